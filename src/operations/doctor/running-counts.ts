// Whether the running counts operators see are those of the slots held (operations interface, section 7: leaked
// counters). Used by fleet.ts. A live leader writes them anew every few seconds: one that stays wrong has nobody to
// heal it.
import { type Finding, failed, ok } from '../../domain/finding.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RunningCount } from '../../store/ports/live/work-queue.ts';

export async function runningCountFindings({ work }: LiveStore): Promise<Finding[]> {
  const counted = await Promise.all(
    TASK_TYPES.map(async (taskType) => [taskType, await work.runningCount(taskType)] as const),
  );
  const wrong = counted
    .filter(([, count]) => !isRight(count))
    .map(([taskType, count]) => wrongCount(taskType, count));
  if (wrong.length > 0) return wrong;
  const running = counted.map(([taskType, { live }]) => `${taskType} ${live}`).join(', ');
  return [ok('running counts', `those of the calls that run: ${running}`)];
}

/** It expires with the last slot, and counts ended leases until somebody takes them back. */
function isRight({ shown, held, live }: RunningCount): boolean {
  return shown === null || shown === String(held) || shown === String(live);
}

function wrongCount(taskType: TaskType, { shown, live }: RunningCount): Finding {
  return failed(
    `running count of ${taskType}`,
    `shows ${shown} and ${live} calls run: leaked, or somebody else's`,
    {
      hint: 'claims count slots and are not held back by it; to have it right at once',
      command: `cardpoll concurrency reset ${taskType} --yes`,
    },
  );
}
