// A fleet of which every card is over its package, and whose budget allows a few stops: daemons that are killed and cut
// off from their database, a database that fails, and a gateway that refuses and loses some stops. Used by
// test/long/stop-budget.test.ts and test/fault/stop-budget-database.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { BreakableLink } from './breakable-link.ts';
import { type Daemon, Fleet } from './fleet.ts';
import { seededRandom } from './gzip-damage.ts';
import { HEALTHY } from './healthy-answers.ts';
import { type PostgresServer, query } from './postgres-server.ts';
import { waitFor } from './processes.ts';
import { type Script, startScriptedGateway } from './scripted-gateway.ts';

const CARDS = 150;
const BUDGET = 25;
const TROUBLES = 5;
/** Stops before the database fails, and those that a standby does not hear of. */
const HALF = Math.floor(BUDGET / 2);
const LOST = 5;

const ENV = {
  CARDPOLL_STOPS_MAX_PER_HOUR: String(BUDGET),
  CARDPOLL_LEASE_MS: '3000',
  CARDPOLL_GATEWAY_TIMEOUT_MS: '500',
  CARDPOLL_RETRY_BASE_MS: '100',
};

interface BudgetedFleet {
  readonly fleet: Fleet;
  /** Every stop that changed something, as the gateway counts. */
  readonly effective: readonly string[];
  /** The gateway refuses further stops from this number on. */
  allow(stops: number): void;
  /** A daemon with a link of its own to the database. */
  start(): Promise<{ daemon: Daemon; link: BreakableLink }>;
  /** Fails when the gateway carried out one stop more, or less, once the budget is used up. */
  expectUsedUp(databaseUrl?: string): Promise<void>;
  close(): Promise<void>;
}

async function startBudgetedFleet(
  seed: number,
  random: () => number,
  postgres?: PostgresServer,
): Promise<BudgetedFleet> {
  const stopped = new Set<string>();
  const effective: string[] = [];
  let allowed = Number.POSITIVE_INFINITY;
  const script: Script = ({ interfaceName, iccid }) => {
    if (interfaceName === 'flow') return { body: { used: 100 } };
    if (interfaceName === 'card_status')
      return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
    if (interfaceName !== 'stop') return { body: HEALTHY[interfaceName] };
    const fate = random();
    if (fate < 0.1 || effective.length >= allowed) return { status: 503, body: '{"code":503,"msg":"busy"}' };
    if (!stopped.has(iccid)) effective.push(iccid);
    stopped.add(iccid);
    // The answer is lost: it comes after the timeout.
    return fate < 0.2 ? { body: null, delayMs: 1_000 } : { body: null, delayMs: 40 * random() };
  };
  const gateway = await startScriptedGateway(script);
  const fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: ENV,
    ...(postgres === undefined ? {} : { postgres }),
  });
  const databasePort = Number(new URL(fleet.databaseUrl).port);
  const links: BreakableLink[] = [];
  return {
    fleet,
    effective,
    allow: (stops) => {
      allowed = stops;
    },
    async start() {
      const link = await BreakableLink.to(databasePort);
      links.push(link);
      const daemon = await fleet.startDaemon({ CARDPOLL_DATABASE_URL: link.around(fleet.databaseUrl) });
      return { daemon, link };
    },
    async expectUsedUp(databaseUrl = fleet.databaseUrl) {
      await waitFor(
        async () => {
          const { done = 0, held = 0 } = await stopsByState(databaseUrl);
          return done === BUDGET && done + held === CARDS;
        },
        { everyMs: 200, what: `seed ${seed}: the budget to be used up and all other stops to be held` },
      );
      expect(new Set(effective).size, 'each card once').toBe(effective.length);
      expect(effective, `seed ${seed}`).toHaveLength(BUDGET);
    },
    async close() {
      fleet.close();
      await Promise.all(links.map((link) => link.close()));
      await gateway.close();
    },
  };
}

async function stopsByState(databaseUrl: string): Promise<Record<string, number>> {
  const rows = await query(databaseUrl, 'SELECT state, count(*)::int AS n FROM card_stops GROUP BY state');
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

/** One fleet from its first poll until the budget is used up. Fails when the gateway carried out one stop more. */
export async function expectBudgetKept(seed: number, daemons = 3): Promise<void> {
  const random = seededRandom(seed);
  const { fleet, effective, start, expectUsedUp, close } = await startBudgetedFleet(seed, random);
  try {
    const running = [await start()];
    await fleet.setIntervals(1);
    await fleet.importCards(CARDS, () => 10);
    while (running.length < daemons) running.push(await start());
    for (let trouble = 0; trouble < TROUBLES; trouble += 1) {
      await sleep(1_000 * random());
      const victim = running.splice(Math.floor(random() * running.length), 1)[0];
      if (victim === undefined) break;
      if (random() < 0.6) {
        victim.daemon.process.signal('SIGKILL');
        running.push(await start());
      } else {
        victim.link.cut();
        await sleep(500 * random());
        victim.link.restore();
        running.push(victim);
      }
      expect(effective.length, `seed ${seed}`).toBeLessThanOrEqual(BUDGET);
    }
    await expectUsedUp();
  } finally {
    await close();
  }
}

/** What is asked of a fleet whose database failed. */
interface AfterFailure {
  readonly effective: readonly string[];
  readonly expectUsedUp: (databaseUrl: string) => Promise<void>;
  readonly databaseUrl: string;
}

/**
 * Three daemons whose database fails when half of the budget is spent.
 * @param fail makes the database fail; the gateway carries out so many stops more before that as `allow` says.
 * @returns the port of the server that has it then.
 */
async function stopOverFailure(
  postgres: PostgresServer,
  fail: (stopMore: (stops: number) => Promise<void>) => Promise<number>,
  expectAfter: (after: AfterFailure) => Promise<void>,
): Promise<void> {
  const random = seededRandom(0);
  const { fleet, effective, allow, start, expectUsedUp, close } = await startBudgetedFleet(
    0,
    random,
    postgres,
  );
  async function stopUpTo(stops: number): Promise<void> {
    allow(stops);
    await waitFor(() => effective.length === stops, { what: `${stops} stops` });
  }
  try {
    const running = [await start(), await start(), await start()];
    await fleet.setIntervals(1);
    allow(HALF);
    await fleet.importCards(CARDS, () => 10);
    await stopUpTo(HALF);
    const port = await fail((stops) => stopUpTo(effective.length + stops));
    allow(Number.POSITIVE_INFINITY);
    for (const { link } of running) link.leadTo(port);
    const url = new URL(fleet.databaseUrl);
    url.port = String(port);
    await expectAfter({ effective, expectUsedUp, databaseUrl: url.href });
  } finally {
    await close();
  }
}

/**
 * Fails when the gateway carried out one stop more than the budget allows, or one less in the end.
 * @param fail makes the database fail. @returns the port of the server that has it now.
 */
export function expectBudgetKeptOver(postgres: PostgresServer, fail: () => Promise<number>): Promise<void> {
  return stopOverFailure(postgres, fail, ({ expectUsedUp, databaseUrl }) => expectUsedUp(databaseUrl));
}

/**
 * A failover to a standby that lacks the last stops. Fails unless the budget is exceeded by some of them, by all of them at
 * most, and each card is stopped once and known as stopped.
 * @param lose makes `stopMore` stops that the standby does not hear of. @returns the port of the standby.
 */
export function expectBudgetExceededByLost(
  postgres: PostgresServer,
  lose: (stopMore: () => Promise<void>) => Promise<number>,
): Promise<void> {
  return stopOverFailure(
    postgres,
    (stopMore) => lose(() => stopMore(LOST)),
    async ({ effective, databaseUrl }) => {
      await waitFor(async () => (await undecided(databaseUrl)) === 0, {
        everyMs: 200,
        what: 'every card to be stopped or held',
      });
      expect(new Set(effective).size, 'each card once').toBe(effective.length);
      expect(effective.length).toBeGreaterThan(BUDGET);
      expect(effective.length).toBeLessThanOrEqual(BUDGET + LOST);
      // The gateway shows the others as stopped; nothing says that cardpoll did it.
      const { done = 0, held = 0 } = await stopsByState(databaseUrl);
      expect(done + held).toBeLessThan(CARDS);
      expect(CARDS - held).toBe(effective.length);
    },
  );
}

/** Cards that are neither known as stopped nor held. */
async function undecided(databaseUrl: string): Promise<number> {
  const [row] = await query(
    databaseUrl,
    `SELECT count(*)::int AS n FROM cards c WHERE NOT stopped
     AND NOT EXISTS (SELECT FROM card_stops s WHERE s.card_id = c.card_id AND s.state = 'held')`,
  );
  return row?.n as number;
}
