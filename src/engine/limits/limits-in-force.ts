// Restores what operators have set: limits, pauses and the ceiling of record. The live store may lose its data, return to a copy
// of an hour ago, or fail over to a server that lacks the last second. In a new life of the live store no claim gets anything
// until this service, on the leader, has put the recorded values in force. After that it compares both stores once a second and
// restores differences.
import type { PauseOfRecord, RecordedLimits } from '../../domain/limits/in-force.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { spanWords } from '../../domain/words.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import { type InForceStores, lookAtInForce, type NotInForce } from '../../store/ports/in-force.ts';
import type { PutBack } from '../../store/ports/live/coordination.ts';
import type { AuditDigest } from '../audit-digest.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 1_000;
/** Until values are in force in a new life of the live store, nothing is polled. So the next look comes soon. */
const LOOK_AGAIN_MS = 100;
/**
 * A new life of the live store may lack the slots of calls in flight. Within this time a worker has reconnected, has claimed in
 * vain and holds these slots again (worker.ts): each loop rests at most a second.
 */
const SLOTS_HELD_AFTER_MS = 1_500;
/** How long health shows a restored value. */
const SHOWN_MS = 600_000;
const MOST_SHOWN = 10;

type Records = Readonly<Record<TaskType, RecordedLimits>>;

export class LimitsInForce extends LoopService<
  LeaderDeps &
    InForceStores & {
      /** `gateway.max_concurrency`; null: no ceiling. */
      readonly ceiling: number | null;
      readonly log: Logger;
      readonly digest: Pick<AuditDigest, 'note'>;
    }
> {
  readonly name = 'limits-in-force';
  /** The recorded values at the last look. */
  #record: Records | null = null;
  #putBack: readonly PutBack[] = [];

  /** Values restored recently, for health. */
  get putBack(): readonly PutBack[] {
    const sinceMs = this.deps.clock.now() - SHOWN_MS;
    return this.#putBack.filter(({ atMs }) => atMs >= sinceMs);
  }

  async runOnce(): Promise<number> {
    const lead = this.deps.fence();
    if (lead === null) return LOOK_EVERY_MS;
    const { record, missing } = await lookAtInForce(this.deps, this.deps.ceiling);
    const before = this.#record;
    for (const one of missing) {
      if (this.deps.fence() !== lead) return LOOK_AGAIN_MS;
      const { taskType, seen, wanted } = one;
      if (!(await this.deps.live.work.putInForce(taskType, seen, wanted, SLOTS_HELD_AFTER_MS))) continue;
      this.#tell(one, before?.[one.taskType] ?? null, record[one.taskType]);
    }
    // Not remembered while the live store refuses writes: an operator's order would then look like a repair.
    this.#record = record;
    // Looks again at once: meanwhile an operator may have ended the limit or pause that was just restored.
    return missing.length > 0 ? LOOK_AGAIN_MS : LOOK_EVERY_MS;
  }

  /**
   * Reports a repair. An operator may be about to bring a change into force, so a difference is the live store's fault only if
   * the record is unchanged since the last look, or if the live store has begun a new life.
   */
  #tell({ taskType, seen, wanted }: NotInForce, before: RecordedLimits | null, record: RecordedLimits): void {
    const { log } = this.deps;
    if (!seen.isInForce) log.info({ task_type: taskType }, 'limits and pauses of record are in force');
    const isSettled = (same: (one: RecordedLimits) => unknown) =>
      !seen.isInForce || (before !== null && same(before) === same(record));
    const { maxConcurrency: limit } = seen;
    if (limit !== null && limit !== wanted.maxConcurrency && isSettled((one) => one.maxConcurrency)) {
      this.#note(taskType, 'limit.put_back', {
        text: `the limit of ${taskType} was ${limit} in Redis and is ${wanted.maxConcurrency} again`,
        before: { maxConcurrency: limit },
        after: { maxConcurrency: wanted.maxConcurrency },
      });
    }
    if (wanted.pause === 'kept' || !isSettled((one) => one.pause?.id)) return;
    if (wanted.pause === 'ended') {
      this.#note(taskType, 'pause.put_back', {
        text: `the ended pause of ${taskType} was back in Redis and is ended again`,
        before: { paused: true },
        after: { paused: false },
      });
    } else {
      const { reason, by } = wanted.pause;
      const had = seen.pause === null ? 'was not paused' : 'had another pause';
      this.#note(taskType, 'pause.put_back', {
        text: `${taskType} ${had} in Redis and is paused again for ${leftWords(wanted.pause)}`,
        before: { paused: seen.pause !== null },
        after: { paused: true, reason, by },
      });
    }
  }

  #note(
    taskType: TaskType,
    action: string,
    { text, before, after }: { readonly text: string; readonly before: object; readonly after: object },
  ): void {
    const { log, digest, clock } = this.deps;
    log.warn({ task_type: taskType, before, after }, text);
    digest.note({
      action,
      object: `task_type ${taskType}`,
      before: { ...before },
      after: { ...after },
    });
    this.#putBack = [{ atMs: clock.now(), text }, ...this.putBack].slice(0, MOST_SHOWN);
  }
}

function leftWords({ leftMs }: PauseOfRecord): string {
  return `${spanWords(leftMs / 1000)} more`;
}
