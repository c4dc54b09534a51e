// A fleet whose cards are all over their package, in compressed time: package polls keep their pace where stops are only observed,
// are held, or are made at the pace of a rate limit. The database takes the time that it takes: a claim waits for those before
// it, and an order for none.
import { expect, it } from 'vitest';
import type { RateLimit } from '../../../../src/domain/limits/rate-limit.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import type { StopClaim, StopRecords } from '../../../../src/store/ports/records/stop-records.ts';
import { CompressedFleet } from '../../../support/compressed-fleet.ts';

const CARDS = 6_000;
const INTERVAL_SECONDS = 2;
const LIMIT = 100;
const SECONDS = 8;
const STATEMENT_MS = 3;
const CARD_MS = 0.05;
const STOPS_A_SECOND = 10;

type Mode = 'within' | 'observe' | 'spent' | 'granted';

/** What the records say of a card that is over, in a mode. */
class Judge {
  readonly waiting = new Set<number>();
  /** Cards whose stop is ordered -> whether it was taken. */
  readonly ordered = new Map<number, boolean>();
  readonly done = new Set<number>();
  fleet: CompressedFleet | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly mode: Mode) {}

  get records(): Pick<RecordStore, 'stops' | 'orders'> {
    const orders: RecordStore['orders'] = {
      want: async (cardIds) => {
        await this.#takes(STATEMENT_MS + CARD_MS * cardIds.length);
        for (const cardId of cardIds) {
          if (this.mode !== 'granted') this.waiting.add(cardId);
          else if (!this.ordered.has(cardId)) this.ordered.set(cardId, false);
        }
        return [];
      },
      due: async ({ most }) => {
        await this.#takes(STATEMENT_MS);
        return Math.min(most, this.#due.length);
      },
      take: async ({ most }) => {
        await this.#takes(STATEMENT_MS);
        const taken = this.#due.slice(0, most);
        for (const cardId of taken) this.ordered.set(cardId, true);
        return taken.map((cardId) => ({
          ...{ cardId, iccid: String(cardId), vendorId: null, carrierId: 1, realNameVerified: true },
          ...{ kind: 'stop', isOperators: false },
        }));
      },
    };
    const stops: Partial<StopRecords> = {
      claim: async () => {
        const claimed = this.#turn.then(async (): Promise<StopClaim> => {
          await this.#takes(STATEMENT_MS);
          return { state: 'granted', month: '2026-11', attempt: 1 };
        });
        this.#turn = claimed;
        return claimed;
      },
      complete: async ({ cardId }) => {
        this.done.add(cardId);
        return null;
      },
    };
    return { stops, orders } as unknown as Pick<RecordStore, 'stops' | 'orders'>;
  }

  get #due(): number[] {
    return [...this.ordered].filter(([, isTaken]) => !isTaken).map(([cardId]) => cardId);
  }

  async #takes(ms: number): Promise<void> {
    await this.fleet?.time.sleep(ms);
  }
}

/** @returns the polls that began in some seconds, and the judge of the stops. */
async function polls(mode: Mode, rateLimits: readonly RateLimit[] = []) {
  const judge = new Judge(mode);
  const fleet = await CompressedFleet.start({
    taskTypes: ['package'],
    cards: CARDS,
    intervalSeconds: INTERVAL_SECONDS,
    limit: LIMIT,
    allowanceMb: 10,
    records: judge.records,
    rateLimits,
  });
  judge.fleet = fleet;
  const readAtMs = fleet.time.now();
  const usedMb = mode === 'within' ? 9 : 11;
  for (let cardId = 1; cardId <= CARDS; cardId += 1)
    fleet.usage.set(cardId, {
      month: '2026-11',
      usedMb,
      lastReadingMb: usedMb,
      suspectedMb: null,
      jump: null,
      readAtMs,
    });
  // The status that confirms a stop is no poll.
  let count = 0;
  fleet.onCall = (name, cardId) => {
    if (name === 'card_status' && !fleet.stopped.has(cardId)) count += 1;
  };
  // The rings begin.
  await fleet.time.run(1_000);
  count = 0;
  await fleet.time.run(SECONDS * 1_000);
  const result = { count, judge, stops: fleet.stopped.size };
  await fleet.stop();
  return result;
}

it('keeps the pace of package polls, whatever becomes of the stops', async () => {
  const limit = { kind: 'calls', interfaces: ['stop'], unit: 'second' } as const;
  const calm = await polls('within');
  const observe = await polls('observe');
  const spent = await polls('spent');
  const granted = await polls('granted', [{ ...limit, calls: STOPS_A_SECOND, burst: STOPS_A_SECOND }]);
  expect(calm.count).toBeGreaterThan(CARDS);
  // All slots are in use all the time: a poll that looks takes some milliseconds longer.
  const share = ({ count }: { count: number }) => count / calm.count;
  expect(share(observe), 'stops are observed').toBeGreaterThanOrEqual(0.8);
  expect(share(spent), 'stops are held').toBeGreaterThanOrEqual(0.8);
  expect(share(granted), 'stops wait for the rate limit').toBeGreaterThanOrEqual(0.8);
  expect([observe.stops, spent.stops]).toEqual([0, 0]);
  expect([observe.judge.waiting.size, spent.judge.waiting.size]).toEqual([CARDS, CARDS]);
  // And the stops use what the rate allows: its tokens by time, and never more than that and the burst.
  expect(granted.stops).toBeGreaterThanOrEqual(0.9 * SECONDS * STOPS_A_SECOND);
  expect(granted.stops).toBeLessThanOrEqual((SECONDS + 2) * STOPS_A_SECOND);
});
