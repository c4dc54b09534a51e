// Compares the running counts that operators see with the slots held (operations interface, section 7: leaked
// counters). Used by fleet.ts. A live leader rewrites them every few seconds, so a count stays wrong only without one.
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
  return [ok('running counts', `match the running calls: ${running}`)];
}

/** A count expires with the last slot, and includes ended leases until they are taken back. */
function isRight({ shown, held, live }: RunningCount): boolean {
  return shown === null || shown === String(held) || shown === String(live);
}

function wrongCount(taskType: TaskType, { shown, live }: RunningCount): Finding {
  return failed(
    `running count of ${taskType}`,
    `shows ${shown}, but ${live} calls run: it leaked, or another program wrote it`,
    {
      hint: 'claims count slots and do not depend on it; to correct it now',
      command: `cardpoll concurrency reset ${taskType} --yes`,
    },
  );
}
