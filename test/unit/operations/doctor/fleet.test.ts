import { expect, it } from 'vitest';
import { perTaskType, TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import { runningCountFindings } from '../../../../src/operations/doctor/fleet.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RunningCount } from '../../../../src/store/ports/live/work-queue.ts';

const RIGHT: RunningCount = { shown: '3', held: 3, live: 3 };

function found(realname: RunningCount) {
  const counts = perTaskType((taskType) => (taskType === 'realname' ? realname : RIGHT));
  const work = { runningCount: async (taskType: TaskType) => counts[taskType] };
  return runningCountFindings({ work } as unknown as LiveStore);
}

const RUNNING = TASK_TYPES.map((taskType) => `${taskType} ${taskType === 'realname' ? 2 : RIGHT.live}`);

it.each([
  ['that of the slots held', { shown: '5', held: 5, live: 2 }],
  ['that of the calls that run', { shown: '2', held: 5, live: 2 }],
  ['gone with the last slot', { shown: null, held: 0, live: 2 }],
])('is right where it is %s', async (_, count) => {
  expect(await found(count)).toEqual([
    expect.objectContaining({
      status: 'ok',
      detail: `match the running calls: ${RUNNING.join(', ')}`,
    }),
  ]);
});

it.each([
  ['17', 'shows 17, but 2 calls run'],
  ['nonsense', 'shows nonsense, but 2 calls run'],
])('is wrong where it shows %s, with what to type', async (shown, detail) => {
  expect(await found({ shown, held: 2, live: 2 })).toEqual([
    {
      check: 'running count of realname',
      status: 'failed',
      detail: expect.stringContaining(detail),
      hint: expect.stringContaining('to correct it now'),
      command: 'cardpoll concurrency reset realname --yes',
    },
  ]);
});
