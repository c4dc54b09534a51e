// A gateway that changes its unit for an hour (in npm test, for a third of one), in compressed time: polled cards, their growth in the live store, and what
// the leader tells a real database.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UsageJumpWatch } from '../../../../src/engine/results/usage-jump-watch.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { CompressedFleet } from '../../../support/compressed-fleet.ts';
import { sampled } from '../../../support/effort.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';

const CARDS = 150;
const LASTS_MINUTES = sampled(20, 60);
const MINUTE_MS = 60_000;
const MB_PER_HOUR = 3;

let records: RecordStore;
let fleet: CompressedFleet;
let watch: UsageJumpWatch;
/** What the gateway shows, as a multiple of the truth. */
let factor = 1;

beforeAll(async () => {
  records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll-test' });
  await records.migrations.up();
  fleet = await CompressedFleet.start({
    taskTypes: ['carddata'],
    cards: CARDS,
    intervalSeconds: 60,
    limit: 50,
  });
  const beganMs = fleet.time.now();
  fleet.usedMb = (cardId) => {
    const hours = (fleet.time.now() - beganMs) / 3_600_000;
    return factor * (cardId + MB_PER_HOUR * hours);
  };
  watch = new UsageJumpWatch({
    live: fleet.live,
    records: records.stopControl,
    jumpFactor: 20,
    fence: () => 1,
    clock: fleet.time,
    log: pino({ enabled: false }),
    onError: (error) => expect.unreachable(String(error)),
  });
});
afterAll(async () => {
  await fleet?.stop();
  await records?.close();
});

async function pollFor(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await fleet.time.run(MINUTE_MS);
    await watch.runOnce();
  }
}

it('holds stops while it lasts, and the months are right when it is over', async () => {
  await pollFor(10);
  expect(await records.stopControl.jump()).toBeNull();

  factor = 1_024;
  await pollFor(3);
  const jump = await records.stopControl.jump();
  expect(jump).toMatchObject({ acceptedAtMs: null });
  expect(jump?.factor).toBeGreaterThan(20);
  expect((jump?.baselineMbPerHour ?? 0) / MB_PER_HOUR).toBeCloseTo(1, 0);
  await pollFor(LASTS_MINUTES);
  expect(await records.stopControl.jump()).toEqual(jump);
  const believed = [...fleet.usage.values()].filter((usage) => usage.usedMb > CARDS + 10);
  expect(believed.length, 'cards whose time could have carried it').toBeGreaterThan(10);
  expect(believed.length, 'cards whose time could not').toBeLessThan(CARDS - 10);

  factor = 1;
  await pollFor(4);
  expect(await records.stopControl.jump()).toBeNull();
  const hours = (10 + 3 + LASTS_MINUTES + 4) / 60;
  for (const [cardId, usage] of fleet.usage) {
    // Small counters grow by more than half.
    expect(usage.jump?.fromMb ?? 0).toBeLessThan(cardId + MB_PER_HOUR * hours);
    expect(usage.usedMb).toBeLessThanOrEqual(cardId + MB_PER_HOUR * hours);
    expect(usage.usedMb).toBeGreaterThan(cardId + MB_PER_HOUR * (hours - 3 / 60));
  }
});
