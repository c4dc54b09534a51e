// Keeps what operators have set in force: limits, pauses and the ceiling of record. The live store may lose its data, go back to a
// copy of an hour ago, or fail over to a server that lacks the last second. In another life of it no claim gets anything until this
// service, on the leader, has put in what is of record; and in every life it compares the two once a second and puts back what differs.
import type { OfRecord, PauseOfRecord } from '../../domain/limits/in-force.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { spanWords } from '../../domain/words.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import { type InForceStores, lookAtInForce, type NotInForce } from '../../store/ports/in-force.ts';
import type { PutBack } from '../../store/ports/live/coordination.ts';
import type { AuditDigest } from '../audit-digest.ts';
import type { LeaderMeans } from '../leadership.ts';

const LOOK_EVERY_MS = 1_000;
/** In a life of the live store in which nothing is in force, nothing is polled. */
const LOOK_AGAIN_MS = 100;
/**
 * Another life of the live store may lack the slots of calls in flight. Within so long a worker has connected to it, has claimed in vain and
 * holds these slots again (worker.ts): both rest at most a second.
 */
const SLOTS_HELD_AFTER_MS = 1_500;
/** Health shows what was put back for so long. */
const SHOWN_MS = 600_000;
const MOST_SHOWN = 10;

type Records = Readonly<Record<TaskType, OfRecord>>;

export class LimitsInForce extends LoopService<
  LeaderMeans &
    InForceStores & {
      /** `gateway.max_concurrency`; null: none. */
      readonly ceiling: number | null;
      readonly log: Logger;
      readonly digest: Pick<AuditDigest, 'note'>;
    }
> {
  readonly name = 'limits-in-force';
  /** What was of record at the last look. */
  #record: Records | null = null;
  #putBack: readonly PutBack[] = [];

  /** What was put back lately, for health. */
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
    // Not while the live store refuses writes: the order of an operator would look like a repair.
    this.#record = record;
    // What was put in is read once more at once: an operator may have ended meanwhile what the live store did not have.
    return missing.length > 0 ? LOOK_AGAIN_MS : LOOK_EVERY_MS;
  }

  /**
   * An operator may be about to bring a change into force. So a difference is one of the live store if the record is as it was at the look
   * before, or if the live store has begun another life.
   */
  #tell({ taskType, seen, wanted }: NotInForce, before: OfRecord | null, record: OfRecord): void {
    const { log } = this.deps;
    if (!seen.isInForce) log.info({ task_type: taskType }, 'limits and pauses of record are in force');
    const isSettled = (same: (one: OfRecord) => unknown) =>
      !seen.isInForce || (before !== null && same(before) === same(record));
    const { maxConcurrency: limit } = seen;
    if (limit !== null && limit !== wanted.maxConcurrency && isSettled((one) => one.maxConcurrency)) {
      this.#note(taskType, 'limit.put_back', {
        text: `put back: ${taskType} ${wanted.maxConcurrency}, the live store had ${limit}`,
        before: { maxConcurrency: limit },
        after: { maxConcurrency: wanted.maxConcurrency },
      });
    }
    if (wanted.pause === 'kept' || !isSettled((one) => one.pause?.id)) return;
    if (wanted.pause === 'ended') {
      this.#note(taskType, 'pause.put_back', {
        text: `put back: ${taskType} is not paused, the live store had a pause that was ended`,
        before: { paused: true },
        after: { paused: false },
      });
    } else {
      const { reason, by } = wanted.pause;
      const had = seen.pause === null ? 'none' : 'another one';
      this.#note(taskType, 'pause.put_back', {
        text: `put back: ${taskType} is paused for ${leftWords(wanted.pause)}, the live store had ${had}`,
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
