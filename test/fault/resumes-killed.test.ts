// kill -9 of the only daemon in the middle of a run of resumes: every card runs again, each by one call, as the gateway counts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import type { ResumeRun } from '../../src/store/ports/records/resume-records.ts';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { filledRun } from '../support/resume-run.ts';

const CARDS = 300;
const ICCIDS = Array.from({ length: CARDS }, (_, i) => demoIccid(i + 1));
const KILLS = 2;
/** A run without kills takes about CARDS * 3 calls * 50 ms / 5. */
const LATENCY_MS = 50;
const CALLS_AT_ONCE = 5;

let fleet: Fleet;
let records: RecordStore;

beforeAll(async () => {
  fleet = await Fleet.start({
    simulator: ['--latency-ms', String(LATENCY_MS)],
    env: {
      CARDPOLL_LEASE_MS: '3000',
      CARDPOLL_GATEWAY_TIMEOUT_MS: '1000',
      CARDPOLL_STOPS_MAX_PER_HOUR: 'none',
      CARDPOLL_STOPS_MAX_PER_DAY: 'none',
    },
  });
  await fleet.startDaemon();
  records = await openPostgresRecordStore({ url: fleet.databaseUrl, applicationName: 'test' });
  await fleet.setLimits(50);
  await fleet.setIntervals(2);
  // Whatever a card has used is too much.
  await fleet.importCards(CARDS, () => 0);
});
afterAll(async () => {
  await records?.close();
  fleet?.close();
});

const find = async (id: string) => (await records.resumes.find(id)) as ResumeRun;

it('resumes every card once', async () => {
  // A card whose first reading is 0 is not over its package, so not all need to be stopped.
  const stops = await waitFor(
    async () => {
      const { total } = await records.resumes.preview({ sinceMs: 0, carrierId: null });
      return total > CARDS * 0.9 ? total : null;
    },
    { timeoutMs: 60_000, what: 'the cards to be stopped' },
  );
  await fleet.setLimits(CALLS_AT_ONCE);
  const { id, total } = await filledRun(records, { sinceMs: 0, carrierId: null });
  expect(total).toBeGreaterThanOrEqual(stops);

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const enough = (kill * total) / (KILLS + 2);
    await waitFor(async () => (await find(id)).resumed > enough, {
      everyMs: 20,
      what: `${enough} cards to be resumed`,
    });
    await fleet.daemons.at(-1)?.process.stop('SIGKILL');
    expect((await find(id)).waiting, 'killed in the middle').toBeGreaterThan(0);
    await fleet.startDaemon();
  }

  const run = await waitFor(
    async () => {
      const now = await find(id);
      return now.waiting === 0 ? now : null;
    },
    { timeoutMs: 120_000, what: 'the run to finish' },
  );
  expect(run).toMatchObject({ total, resumed: total, alreadyRunning: 0, failed: 0, cancelled: 0 });
  const { starts, stops: stopped } = await fleet.truth();
  expect(Object.keys(starts)).toHaveLength(total);
  expect(Object.entries(starts).filter(([, count]) => count !== 1)).toEqual([]);
  expect(
    ICCIDS.filter((iccid) => (stopped[iccid] ?? 0) > 1),
    'stopped again',
  ).toEqual([]);
  const resumed = { state: 'resumed', sinceMs: null, carrierId: null } as const;
  expect((await records.stops.list(resumed, { offset: 0, limit: 1 })).total).toBe(total);
});
