// A live store that lost its data has lost the pauses too, and would let polling resume in the middle of a maintenance: a pause of an
// operator that the audit trail shows as begun, and not as ended, is put back. By the leader: before the first card has an order or a
// trigger, before the first one is in a ring, and whenever a pause ends early.
import { DAEMON, FAILED } from '../../domain/audit.ts';
import { PAUSE_SECONDS_BOUNDS } from '../../domain/limits/operator-limits.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Logger } from '../../platform/logger.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { AuditRecord } from '../../store/ports/records/audit-records.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderMeans } from '../leadership.ts';

/** The newest entries about pauses that are read; those of the gateway are ten minutes apart or more. */
const ENTRIES_READ = 1_000;
/** One that is nearly over is not put back: the clocks of the two stores may differ. */
const LEAST_LEFT_MS = 10_000;
/** The operation that announces a pause in the audit trail has set it after so long, if ever. Before, none was lost. */
const ANNOUNCED_MS = 5_000;

/** Puts back the pauses of operators that should be in force, while this instance leads. @returns whether there were any */
export async function putPausesBack({
  records,
  live,
  work,
  log,
  fence,
}: {
  readonly live: Pick<LiveStore, 'now'>;
  readonly work: Pick<WorkQueue, 'pauses' | 'pause' | 'resume'>;
  readonly records: { readonly audit: Pick<RecordStore['audit'], 'list'> };
  readonly log: Logger;
  readonly fence: LeaderMeans['fence'];
}): Promise<boolean> {
  const sinceMs = (await live.now()) - PAUSE_SECONDS_BOUNDS.max * 1_000;
  const filter = { sinceMs, untilMs: null, actor: null, action: 'pause', object: null };
  const entries = async () => (await records.audit.list(filter, { offset: 0, limit: ENTRIES_READ })).items;
  const items = await entries();
  // After the entries: a pause that was set between the two readings is in both.
  const present = await work.pauses();
  const nowMs = await live.now();
  let putBack = false;
  for (const taskType of TASK_TYPES) {
    if (present.some((pause) => pause.taskType === taskType && pause.source === 'operator')) continue;
    const last = lastChange(items, taskType);
    if (last?.action !== 'pause.begin') continue;
    const { seconds, reason } = last.after as { readonly seconds: number; readonly reason: string };
    const ms = Math.ceil(last.atMs + seconds * 1_000 - nowMs);
    if (ms < LEAST_LEFT_MS || fence() === null) continue;
    await work.pause(taskType, { source: 'operator', ms, reason, by: last.name });
    // An operator who ended it since the entries were read has an entry by now, which comes before the act.
    if (lastChange(await entries(), taskType)?.action === 'pause.end') {
      await work.resume(taskType);
      continue;
    }
    putBack = true;
    if (nowMs - last.atMs < ANNOUNCED_MS) continue;
    log.warn({ task_type: taskType, reason, by: last.name }, 'a pause that Redis had lost is put back');
  }
  return putBack;
}

function isOperatorsPause({ object, role }: AuditRecord, taskType: TaskType): boolean {
  return (object === `task_type ${taskType}` || object === 'task_type all') && role !== DAEMON.role;
}

function lastChange(entries: readonly AuditRecord[], taskType: TaskType): AuditRecord | undefined {
  return lastDone(entries.filter((entry) => isOperatorsPause(entry, taskType)));
}

/** The newest change that was made. One that failed has two entries: its announcement, and later that it failed. */
function lastDone(entries: readonly AuditRecord[]): AuditRecord | undefined {
  const failed: string[] = [];
  return entries.find(({ action, object }) => {
    if (action.endsWith(FAILED)) failed.push(`${action.slice(0, -FAILED.length)} ${object}`);
    const at = failed.indexOf(`${action} ${object}`);
    if (at >= 0) failed.splice(at, 1);
    return at < 0 && !action.endsWith(FAILED);
  });
}
