// Limits that are put into force, and the share of a ceiling an instance begins with, on the live store of this process.
import { beforeEach, expect, it, vi } from 'vitest';
import { sum } from '../../../../src/domain/numbers.ts';
import { askPerTaskType, perTaskType, TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { seedLimits } from '../../../../src/engine/limits/seed-limits.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let live: LiveStore;

const seed = (ceiling: number | null, limits = perTaskType(() => 100)) =>
  seedLimits({ work: live.work, records: { configs: { concurrency: async () => limits } }, ceiling });

beforeEach(() => {
  live = openEmbeddedLiveStore({ clock: new FakeClock() });
});

it('sets the limits of the record store where none is in force', async () => {
  const limits = { ...perTaskType(() => 14), realname: 11, carddata: 12 };
  await live.work.setMaxConcurrency('carddata', 99);
  await seed(null, limits);
  const inForce = await askPerTaskType(async (taskType) => (await live.work.counts(taskType)).maxConcurrency);
  expect(inForce).toEqual({ ...limits, carddata: 99 });
});

it.each([
  [null, null],
  [10 * TASK_TYPES.length + 1, 10],
  [TASK_TYPES.length - 1, 1],
])('begins under a ceiling of %j with %j calls a type', async (ceiling, share) => {
  await live.work.setMaxConcurrency('package', 500);
  await seed(ceiling);
  expect((await live.work.counts('package')).effectiveConcurrency).toBe(share ?? 500);
});

const inForce = () =>
  askPerTaskType(async (taskType) => (await live.work.counts(taskType)).effectiveConcurrency);

it('lowers what an earlier leader left in force when it is more than the ceiling allows', async () => {
  for (const taskType of TASK_TYPES) await live.work.setEffectiveConcurrency(taskType, 30);
  await live.work.setEffectiveConcurrency('package', 5);
  await seed(10 * TASK_TYPES.length);
  expect(await inForce()).toEqual({ ...perTaskType(() => 10), package: 5 });
});

it('lowers also what a lower limit of an operator hides', async () => {
  for (const taskType of TASK_TYPES) await live.work.setEffectiveConcurrency(taskType, 30);
  for (const taskType of TASK_TYPES) await live.work.setMaxConcurrency(taskType, 5);
  await seed(10 * TASK_TYPES.length);
  for (const taskType of TASK_TYPES) await live.work.setMaxConcurrency(taskType, 100);
  expect(await inForce()).toEqual(perTaskType(() => 10));
});

it('leaves the shares alone that a leader divided within the ceiling', async () => {
  for (const taskType of TASK_TYPES) await live.work.setEffectiveConcurrency(taskType, 5);
  await live.work.setEffectiveConcurrency('package', 10 * TASK_TYPES.length - 5 * (TASK_TYPES.length - 1));
  const before = await inForce();
  await seed(10 * TASK_TYPES.length);
  expect(await inForce()).toEqual(before);
});

it('has the ceiling in force before the first limit', async () => {
  const sums: number[] = [];
  const set = live.work.seedMaxConcurrency.bind(live.work);
  vi.spyOn(live.work, 'seedMaxConcurrency').mockImplementation(async (...limit) => {
    sums.push(sum(Object.values(await inForce())));
    await set(...limit);
  });
  await seed(2 * TASK_TYPES.length);
  expect(sums).toEqual(TASK_TYPES.map(() => 2 * TASK_TYPES.length));
});
