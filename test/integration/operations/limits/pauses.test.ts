// Pauses of operators beside those the gateway asked for, and what the trail keeps of them.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import { TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'operator', address: null, requestId: null };
const PAUSE = { seconds: 600, reason: 'maintenance' };

let stores: OperatedStores;
let pauses: Operations['pauses'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  pauses = stores.operations().pauses;
  for (const taskType of TASK_TYPES) await stores.live.work.resume(taskType);
});

const gatewayPauses = (taskType: TaskType, ms: number) =>
  stores.live.work.pause(taskType, { source: 'gateway', ms, reason: '429', by: 'instance-1' });

it('of one task type holds back that type, for as long as was said', async () => {
  const [made, ...others] = await pauses.pause(ANNA, { taskType: 'package', ...PAUSE });
  expect(others).toEqual([]);
  expect(made).toMatchObject({ taskType: 'package', source: 'operator', reason: 'maintenance', by: 'anna' });
  expect((made?.until.getTime() ?? 0) - (made?.since.getTime() ?? 0)).toBe(600_000);
  expect(await pauses.list()).toEqual([made]);
  expect(await stores.lastTrace()).toMatchObject({
    action: 'pause.begin',
    object: 'task_type package',
    before: null,
    after: PAUSE,
  });
});

it('of all holds back every type; a further one replaces it, and the trail says which', async () => {
  await gatewayPauses('carddata', 5_000);
  const made = await pauses.pause(ANNA, { taskType: 'all', ...PAUSE });
  expect(made.map(({ taskType, source }) => [taskType, source])).toEqual(
    TASK_TYPES.map((taskType) => [taskType, 'operator']),
  );
  const [replaced] = await pauses.pause(ANNA, { taskType: 'carddata', seconds: 60, reason: 'nearly done' });
  expect(replaced).toMatchObject({ taskType: 'carddata', reason: 'nearly done' });
  expect((await stores.lastTrace()).before).toMatchObject({
    pauses: [{ task_type: 'carddata', source: 'operator', reason: 'maintenance' }],
  });
});

it('are listed by task type, the one that lasts longest first', async () => {
  await gatewayPauses('package', 5_000);
  await pauses.pause(ANNA, { taskType: 'package', ...PAUSE });
  await pauses.pause(ANNA, { taskType: 'carddata', seconds: 60, reason: 'x' });
  await gatewayPauses('carddata', 90_000);
  await gatewayPauses('realname', 1_000_000);
  expect((await pauses.list()).map(({ taskType, source }) => [taskType, source])).toEqual([
    ['realname', 'gateway'],
    ['carddata', 'gateway'],
    ['carddata', 'operator'],
    ['package', 'operator'],
    ['package', 'gateway'],
  ]);
});

it('end for one type or for all, whoever asked for them', async () => {
  await gatewayPauses('package', 50_000);
  await pauses.pause(ANNA, { taskType: 'all', ...PAUSE });
  expect((await pauses.resume(ANNA, 'realname')).map(({ taskType }) => taskType)).toEqual(['realname']);
  expect(await stores.lastTrace()).toMatchObject({
    action: 'pause.end',
    object: 'task_type realname',
    before: { pauses: [{ task_type: 'realname', source: 'operator' }] },
    after: null,
  });
  expect((await pauses.resume(ANNA, 'all')).map(({ taskType, source }) => [taskType, source])).toEqual([
    ['carddata', 'operator'],
    ['package', 'operator'],
    ['package', 'gateway'],
  ]);
  expect(await pauses.list()).toEqual([]);
  const known = await stores.lastTrace();
  expect(await pauses.resume(ANNA, 'all')).toEqual([]);
  expect(await stores.lastTrace(), 'what ends nothing leaves no trace').toEqual(known);
});
