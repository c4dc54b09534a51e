// Limits that are kept in force, and the share of a ceiling an instance begins with, on the live store of this process.
import { beforeEach, expect, it } from 'vitest';
import { askPerTaskType, perTaskType, TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { LimitKeeper, seedCeiling } from '../../../../src/engine/limits/limit-keeper.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LIMITS = { ...perTaskType(() => 14), realname: 11, carddata: 12 };
const clock = new FakeClock();
let live: LiveStore;
let fence: number | null;
let keeper: LimitKeeper;

beforeEach(() => {
  live = openEmbeddedLiveStore({ clock });
  fence = 1;
  keeper = new LimitKeeper({
    work: live.work,
    records: { concurrency: async () => LIMITS },
    fence: () => fence,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
});

const inForce = () => askPerTaskType(async (taskType) => (await live.work.counts(taskType)).maxConcurrency);

it('sets the limits of the record store where none is in force, and comes again in a second', async () => {
  await live.work.setMaxConcurrency('carddata', 99);
  expect(await keeper.runOnce()).toBe(1_000);
  expect(await inForce()).toEqual({ ...LIMITS, carddata: 99 });
});

it('sets nothing while another instance leads', async () => {
  fence = null;
  await keeper.runOnce();
  expect(await inForce()).toEqual(perTaskType(() => null));
});

it.each([
  [null, null],
  [10 * TASK_TYPES.length + 1, 10],
  [TASK_TYPES.length - 1, 1],
])('begins under a ceiling of %j with %j calls a type', async (ceiling, share) => {
  await live.work.setMaxConcurrency('package', 500);
  await seedCeiling(live.work, ceiling);
  expect((await live.work.counts('package')).effectiveConcurrency).toBe(share ?? 500);
});
