// Limits at the operations: what is in force, why, what is changed under which version, and what the trail keeps.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { limitVersion } from '../../../../src/operations/limits/concurrency.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const POINT = { concurrency: 50, ratePerSecond: 500, avgDurationMs: 100, backpressurePercent: 0, atMs: 1e12 };

let stores: OperatedStores;
let concurrency: Operations['concurrency'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  vi.restoreAllMocks();
  concurrency = stores.operations().concurrency;
  for (const taskType of TASK_TYPES) await concurrency.set(ANNA, taskType, 100, null);
});

it('a limit is set for the fleet, and the trail says what it was', async () => {
  expect(await concurrency.set(ANNA, 'package', 77, null)).toMatchObject({
    taskType: 'package',
    maxConcurrency: 77,
    effectiveConcurrency: 77,
    current: 0,
  });
  expect((await concurrency.list()).map(({ maxConcurrency }) => maxConcurrency)).toEqual([100, 100, 77]);
  expect(await stores.lastTrace()).toMatchObject({
    action: 'concurrency.set',
    object: 'task_type package',
    before: { max_concurrency: 100 },
    after: { max_concurrency: 77 },
  });
});

it('a limit is set only in the version that was seen', async () => {
  const seen = limitVersion(await concurrency.show('carddata'));
  const others = [limitVersion({ taskType: 'package', maxConcurrency: 100 })];
  for (const version of others)
    await expect(concurrency.set(ANNA, 'carddata', 5, [version])).rejects.toMatchObject({ kind: 'conflict' });
  await concurrency.set(ANNA, 'carddata', 60, [seen]);
  await expect(concurrency.set(ANNA, 'carddata', 70, [seen])).rejects.toMatchObject({ kind: 'conflict' });
  expect(await concurrency.show('carddata')).toMatchObject({ taskType: 'carddata', maxConcurrency: 60 });
});

it('a limit is not changed while the live store is away', async () => {
  vi.spyOn(stores.live.work, 'setMaxConcurrency').mockRejectedValueOnce(new Error('the live store is away'));
  await expect(concurrency.set(ANNA, 'carddata', 60, null)).rejects.toThrow('away');
  expect((await stores.records.configs.concurrency()).carddata).toBe(100);
});

it('a limit that was set by hand in the live store is changed in the version that is seen', async () => {
  await stores.live.work.setMaxConcurrency('carddata', 60);
  const seen = limitVersion(await concurrency.show('carddata'));
  expect(await concurrency.set(ANNA, 'carddata', 70, [seen])).toMatchObject({ maxConcurrency: 70 });
  expect(await stores.lastTrace()).toMatchObject({ before: { max_concurrency: 60 } });
  expect((await stores.records.configs.concurrency()).carddata).toBe(70);
});

it('where less is in force it says why, and what was measured', async () => {
  const { work } = stores.live;
  await work.saveLimitRecord('realname', { limit: 50, normalMs: 9, reason: 'refused', curve: [POINT] });
  expect(await concurrency.show('realname'), 'as much is in force').toMatchObject({ reason: null });
  await work.setEffectiveConcurrency('realname', 50);
  const { atMs, ...level } = POINT;
  expect(await concurrency.show('realname')).toMatchObject({
    effectiveConcurrency: 50,
    reason: 'refused',
    curve: [{ ...level, at: new Date(atMs) }],
  });
  await work.setEffectiveConcurrency('carddata', 50);
  expect(await concurrency.show('carddata'), 'before the leader said why').toMatchObject({ reason: null });
});

it('where polls wait for a rate limit it says for which', async () => {
  const limits = [{ id: 'flow/second', interfaces: ['flow'], perSecond: 2, burst: 2 }] as const;
  await stores.live.pace.take({ participant: 'carddata', interfaceName: 'flow', calls: 50, limits });
  const [, carddata, onPackages] = await concurrency.list();
  expect(carddata?.reason).toBe('calls wait for the rate limit of 2 a second');
  expect(onPackages?.reason).toBeNull();
});

it('what is configured stands in where the live store knows no limit', async () => {
  await concurrency.set(ANNA, 'package', 33, null);
  const empty = await openOperatedStores({ databaseOf: stores });
  const { concurrency: anew } = empty.operations();
  expect((await anew.list()).map(({ maxConcurrency }) => maxConcurrency)).toEqual([100, 100, 33]);
  await empty.live.work.setMaxConcurrency('package', 40);
  expect((await anew.list()).map(({ maxConcurrency }) => maxConcurrency)).toEqual([100, 100, 40]);
  await empty.close();
});

it('the running count is cleared, and the trail says how many ran', async () => {
  await stores.live.manual.push('realname', ['1', '2', '3']);
  await stores.live.work.claim('realname', {
    instanceId: 'w',
    claimNumber: stores.nextClaim(),
    max: 2,
    leaseMs: 600_000,
  });
  expect(await concurrency.reset(ANNA, 'realname')).toMatchObject({ taskType: 'realname' });
  expect((await concurrency.show('realname')).current).toBe(0);
  expect(await stores.lastTrace()).toMatchObject({
    action: 'concurrency.reset',
    object: 'task_type realname',
    before: { current: 2 },
    after: { current: 0 },
  });
});
