// A fleet of a few cards that the built daemon polls at a vendor's gateway, with a shipped profile and credentials by
// variable, and what every profile has to show there: readings, states, one stop, a way back, and an unknown card that is
// nobody else's problem.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { Fleet } from './fleet.ts';
import type { VendorCard, VendorGateway } from './gateways/vendor-gateway.ts';
import { waitFor } from './processes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The card that comes to be over its package, the one that is not verified, and the one that the vendor does not know. */
export const OVER = 2;
const UNVERIFIED = 3;
export const UNKNOWN = 4;
const ALLOWANCE_MB = 50;
/** A whole number of kilobytes of 1,024 bytes, and of hundredths of a megabyte: no vendor rounds it. */
const STEP_BYTES = 640_000;

interface VendorFleetOptions {
  readonly gateway: VendorGateway;
  readonly profile: string;
  /** Below the gateway's address. */
  readonly path?: string;
  readonly credentials: Readonly<Record<string, string>>;
  /** What the configuration says besides the profile. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Default 8. */
  readonly cards?: number;
  /** Default: a server of its own. */
  readonly redisUrl?: string;
  readonly intervalSeconds?: number;
  /** The ids by which the vendor knows its cards, if not by their ICCIDs. */
  readonly ids?: { of(iccid: string): string };
}

export class VendorFleet {
  private constructor(
    readonly fleet: Fleet,
    readonly gateway: VendorGateway,
    readonly cards: number,
    private readonly database: pg.Client,
    private readonly ids: VendorFleetOptions['ids'],
  ) {}

  static async start({
    gateway,
    profile,
    path = '',
    credentials,
    settings = {},
    cards = 8,
    redisUrl,
    intervalSeconds = 2,
    ids,
  }: VendorFleetOptions): Promise<VendorFleet> {
    const config = join(temporaryDirectory('vendor'), 'cardpoll.yaml');
    writeFileSync(config, stringify({ gateway: { profile, ...settings } }));
    const fleet = await Fleet.start({
      gatewayUrl: gateway.url + path,
      env: {
        CARDPOLL_CONFIG: config,
        ...(redisUrl === undefined ? {} : { CARDPOLL_REDIS_URL: redisUrl }),
        ...credentials,
      },
    });
    await fleet.startDaemon();
    await fleet.setIntervals(intervalSeconds);
    const database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    return new VendorFleet(fleet, gateway, cards, database, ids);
  }

  card(cardId: number): VendorCard {
    return this.gateway.card(demoIccid(cardId)) as VendorCard;
  }

  /**
   * Imports the cards; each has used a different amount, which only the vendor knows.
   * @param usedBytes what other cards have used, by card id.
   */
  async importCards(usedBytes: Readonly<Record<number, number>> = {}): Promise<void> {
    for (let id = 1; id <= this.cards; id += 1) {
      this.card(id).usedBytes = usedBytes[id] ?? STEP_BYTES * id;
    }
    this.card(OVER).usedBytes = 40_960_000;
    this.card(UNVERIFIED).verified = false;
    this.gateway.unknown.add(demoIccid(UNKNOWN));
    await this.fleet.importCards(
      this.cards,
      (id) => (id === OVER ? ALLOWANCE_MB : ''),
      (iccid) => this.ids?.of(iccid) ?? '',
    );
  }

  /** Waits until the database has what the vendor knows, of each card but the unknown one. */
  async expectTrueReadings(except: readonly number[] = []): Promise<void> {
    const unread = new Set([UNKNOWN, ...except]);
    const ids = Array.from({ length: this.cards }, (_, i) => i + 1).filter((id) => !unread.has(id));
    await waitFor(
      async () => {
        const { rows } = await this.database.query('SELECT card_id, last_reading_mb FROM card_usage');
        const read = new Map(rows.map((row) => [Number(row.card_id), row.last_reading_mb as number]));
        return ids.every((id) => Math.abs((read.get(id) ?? -1) - this.card(id).usedBytes / 1e6) < 1e-6);
      },
      { everyMs: 100, what: 'the readings of the vendor in the database' },
    );
  }

  async verified(): Promise<readonly number[]> {
    const { rows } = await this.database.query(
      'SELECT card_id FROM cards WHERE real_name_verified ORDER BY card_id',
    );
    return rows.map((row) => Number(row.card_id));
  }

  /** The card goes over its package: it is stopped once, its state is read, and an operator brings it back. */
  async expectOneStopAndResume(): Promise<void> {
    const { iccid } = this.card(OVER);
    this.card(OVER).usedBytes = 61_440_000;
    await waitFor(
      async () => {
        const { rows } = await this.database.query(
          "SELECT 1 FROM card_stops JOIN cards USING (card_id) WHERE card_id = $1 AND state = 'done' AND cards.stopped",
          [OVER],
        );
        return rows.length === 1;
      },
      { everyMs: 100, what: 'the stop, shown by the vendor' },
    );
    await this.polledTwice();
    expect(this.gateway.stats().stops).toEqual({ [iccid]: 1 });
    await this.fleet.cli('cards', 'resume', String(OVER), '--reason', 'bought more');
    await waitFor(() => !this.card(OVER).stopped, { everyMs: 100, what: 'the card to run again' });
    await this.polledTwice();
    const { stops, starts } = this.gateway.stats();
    expect({ stops, starts }).toEqual({ stops: { [iccid]: 1 }, starts: { [iccid]: 1 } });
  }

  /** The card uses more, and the daemon finds out. */
  async expectGrowthToBeRead(except: readonly number[] = []): Promise<void> {
    this.card(1).usedBytes += STEP_BYTES;
    await this.expectTrueReadings(except);
  }

  /** Which kinds of failures the calls for each card had. */
  async failures(): Promise<Map<unknown, Set<unknown>>> {
    const failures = new Map<unknown, Set<unknown>>();
    for await (const { iccid, error } of this.fleet.logLines()) {
      if (iccid === undefined || error === undefined) continue;
      failures.set(iccid, (failures.get(iccid) ?? new Set()).add(error));
    }
    return failures;
  }

  /**
   * The failed calls of the unknown card are its own fault, and no others fail. @param besides the ids of cards whose polls may
   * fail, too: while a stop is not carried out yet, it is unconfirmed.
   */
  async expectOnlyTheUnknownCardToFail(besides: readonly number[] = []): Promise<void> {
    const failures = await waitFor(
      async () => {
        const seen = await this.failures();
        return seen.has(demoIccid(UNKNOWN)) ? seen : null;
      },
      { everyMs: 200, what: 'the unknown card to fail' },
    );
    const expected = new Set<unknown>(besides.map(demoIccid));
    expect([...failures.keys()].filter((iccid) => !expected.has(iccid))).toEqual([demoIccid(UNKNOWN)]);
    expect(['card', 'business']).toEqual(
      expect.arrayContaining([...(failures.get(demoIccid(UNKNOWN)) ?? [])]),
    );
  }

  /** Waits for two more readings of the state of each card. */
  async polledTwice(): Promise<void> {
    const until = this.gateway.stats().calls.status + 2 * this.cards;
    await waitFor(() => this.gateway.stats().calls.status >= until, {
      everyMs: 100,
      what: 'more polls of every card',
    });
  }

  async close(): Promise<void> {
    await this.database.end();
    this.fleet.close();
    await this.gateway.close();
  }
}
