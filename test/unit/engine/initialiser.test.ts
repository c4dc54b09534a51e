// The initialiser's states on a real database and the live store of this process: what happens when it is interrupted,
// overtaken by another leader, or when configs come and go.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ConfigMatcher, type PollingConfig } from '../../../src/domain/polling-config.ts';
import { Initialiser } from '../../../src/engine/initialiser.ts';
import { ringOf } from '../../../src/engine/scheduler.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../src/store/embedded/live-store.ts';
import type { InitProgress, LiveStore } from '../../../src/store/live-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';

const CARDS = 40;
const COMMON = { taskType: 'carddata', cardCondition: 'any', intervalSeconds: 60, status: 1 } as const;
const ALL: PollingConfig = { id: 1, name: 'all', carrierId: null, priority: 0, ...COMMON };
/** Wins over ALL where it matches. */
const OWN: PollingConfig = { id: 2, name: 'carrier 7', carrierId: 7, priority: 1, ...COMMON };

let records: RecordStore;
let sql: pg.Client;
let live: LiveStore;
let configs: PollingConfig[];
let fence: number | null;
let initialiser: Initialiser;

beforeAll(async () => {
  const url = await freshDatabase();
  records = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await records.migrations.up();
  sql = new pg.Client({ connectionString: url });
  await sql.connect();
});
afterAll(async () => {
  await sql.end();
  await records.close();
});

beforeEach(async () => {
  // Every second card is carrier 7's.
  await sql.query(`INSERT INTO cards (card_id, iccid, carrier_id)
    SELECT id, lpad(id::text, 20, '0'), 7 * (id % 2) FROM generate_series(1, ${CARDS}) id`);
  live = openEmbeddedLiveStore({ clock: systemClock });
  configs = [ALL];
  fence = 1;
  initialiser = makeInitialiser(live);
});
afterEach(() => sql.query('DELETE FROM cards'));

function makeInitialiser(store: Pick<LiveStore, 'rings' | 'coordination' | 'cards'>): Initialiser {
  return new Initialiser({
    live: store,
    records,
    configs: () => configs,
    matcher: () => new ConfigMatcher(configs),
    fence: () => fence,
    clock: systemClock,
    batchCards: 15,
    pauseMs: 0,
    onProgress: () => {},
    onError: (error) => expect.unreachable(String(error)),
  });
}

async function configure(): Promise<void> {
  for (const config of configs)
    await live.rings.configure(ringOf(config), { intervalMs: 60_000, enabled: true });
}

async function runUntilCompleted(): Promise<void> {
  await configure();
  for (let pass = 0; pass < 20; pass += 1) {
    await initialiser.runOnce();
    const rings = await live.rings.list();
    const { status } = await live.coordination.initProgress();
    if (status === 'completed' && rings.every((ring) => ring.building === null && ring.generation > 0))
      return;
  }
  expect.unreachable('initialisation did not complete in 20 passes');
}

async function members(): Promise<Record<number, number>> {
  return Object.fromEntries((await live.rings.list()).map((ring) => [ring.configId, ring.members]));
}

it('builds the ring of a new config although a card that belongs there changes at the same time', async () => {
  await runUntilCompleted();
  configs = [ALL, OWN];
  await configure();
  await sql.query('UPDATE cards SET status = 2 WHERE card_id = 1');
  await runUntilCompleted();
  expect(await members()).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
});

it('gives the cards of a config that is gone to those who poll them now', async () => {
  configs = [ALL, OWN];
  await runUntilCompleted();
  expect(await members()).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
  configs = [ALL];
  await initialiser.runOnce();
  await runUntilCompleted();
  expect(await members()).toEqual({ 1: CARDS });
});

it('begins a build again that was cut off after any of its steps', async () => {
  await runUntilCompleted();
  configs = [ALL, OWN];
  for (const steps of [1, 2, 3]) {
    // Before the last step the new ring stands in use and empty: that must never look complete.
    await configure();
    await live.rings.drop(ringOf(OWN));
    await live.coordination.saveInitProgress({
      ...(await live.coordination.initProgress()),
      status: 'completed',
    });
    await configure();
    await expect(makeInitialiser(failingAfter(steps)).runOnce()).rejects.toThrow('cut off');
    await runUntilCompleted();
    expect(await members(), `after ${steps} steps`).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
  }
});

/** The live store, dying at the write number `steps + 1` of a pass. */
function failingAfter(steps: number): Pick<LiveStore, 'rings' | 'coordination' | 'cards'> {
  let left = steps;
  const step = async (): Promise<void> => {
    if (left === 0) throw new Error('cut off');
    left -= 1;
  };
  const { rings, coordination, cards } = live;
  return {
    cards,
    rings: Object.assign(Object.create(rings), {
      list: () => rings.list(),
      startGeneration: async (...args: Parameters<typeof rings.startGeneration>) => {
        await step();
        return rings.startGeneration(...args);
      },
    }),
    coordination: Object.assign(Object.create(coordination), {
      initProgress: () => coordination.initProgress(),
      saveInitProgress: async (progress: InitProgress) => {
        await step();
        await coordination.saveInitProgress(progress);
      },
    }),
  };
}

it('writes nothing once another instance leads', async () => {
  await configure();
  // The lead is lost while the pass waits for the database.
  const overtaken = makeInitialiser({
    ...live,
    coordination: Object.assign(Object.create(live.coordination), {
      initProgress: async () => {
        const progress = await live.coordination.initProgress();
        fence = null;
        return progress;
      },
      saveInitProgress: (progress: InitProgress) => live.coordination.saveInitProgress(progress),
    }),
  });
  await expect(overtaken.runOnce()).rejects.toMatchObject({ code: 'lead_lost' });
  expect((await live.rings.list()).map((ring) => ring.generation)).toEqual([0]);
  expect((await live.coordination.initProgress()).status).toBe('pending');
});
