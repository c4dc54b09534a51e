// Logs when a task type is paused and when it resumes, once for the fleet, and notes pauses that the gateway asked for
// in the audit trail (operators' pauses are there already). Runs on the leader. A prolonged pause is the same pause. A
// new leader logs the pauses in force again.
//
// Pauses that ended early may be lost: those of operators are put back (lost-pauses.ts).

import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { Pause, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { AuditDigest } from '../audit-digest.ts';
import type { LeaderMeans } from '../leadership.ts';
import { putPausesBack } from './lost-pauses.ts';

const LOOK_EVERY_MS = 500;
export class PauseLog extends LoopService<
  LeaderMeans & {
    readonly live: Pick<LiveStore, 'now'>;
    readonly work: Pick<WorkQueue, 'pauses' | 'pause' | 'resume'>;
    readonly records: { readonly audit: Pick<RecordStore['audit'], 'list'> };
    readonly log: Logger;
    readonly digest: Pick<AuditDigest, 'note'>;
  }
> {
  readonly name = 'pause-log';
  /** The pauses in force at the last look; null before the first look of a lead. */
  #known: ReadonlyMap<string, Pause> | null = null;
  #fence: number | null = null;

  async runOnce(): Promise<number> {
    const fence = this.deps.fence();
    // A live store that lost its data grants another lead, also to the same instance.
    if (fence !== this.#fence) this.#known = null;
    this.#fence = fence;
    if (fence === null) return LOOK_EVERY_MS;
    const seen = await this.deps.work.pauses();
    const isLooking = this.#known === null || (await this.#endedEarly(seen));
    const present = isLooking && (await putPausesBack(this.deps)) ? await this.deps.work.pauses() : seen;
    for (const pause of this.#ended(present)) this.#tellResumed(pause);
    const now = new Map(present.map((pause) => [keyOf(pause), pause]));
    for (const [key, pause] of now) if (this.#known?.has(key) !== true) this.#tellPaused(pause);
    this.#known = now;
    return LOOK_EVERY_MS;
  }

  /** @returns the pauses known before that are neither in force any more nor replaced. */
  #ended(present: readonly Pause[]): Pause[] {
    const keys = new Set(present.map(keyOf));
    return [...(this.#known ?? [])]
      .filter(([key, pause]) => !keys.has(key) && !present.some((one) => replaces(one, pause)))
      .map(([, pause]) => pause);
  }

  async #endedEarly(present: readonly Pause[]): Promise<boolean> {
    const ended = this.#ended(present).filter(({ source }) => source === 'operator');
    if (ended.length === 0) return false;
    const nowMs = await this.deps.live.now();
    return ended.some(({ untilMs }) => untilMs > nowMs);
  }

  #tellPaused(pause: Pause): void {
    const { log, digest } = this.deps;
    const { source, taskType, reason, by, untilMs } = pause;
    log.warn(fieldsOf(pause), 'polling paused');
    if (source === 'operator') return;
    const after = { source, reason, by, until: new Date(untilMs) };
    digest.note({ action: 'pause.begin', object: `task_type ${taskType}`, before: null, after });
  }

  #tellResumed({ taskType, source, reason }: Pause): void {
    const { log, digest } = this.deps;
    log.info({ task_type: taskType, source }, 'polling resumed');
    if (source === 'operator') return;
    const before = { source, reason };
    digest.note({ action: 'pause.end', object: `task_type ${taskType}`, before, after: null });
  }
}

/** An operator's pause replaces an operator's. One of the gateway begins anew only after the one before has ended. */
function replaces(pause: Pause, before: Pause): boolean {
  return pause.taskType === before.taskType && pause.source === before.source && pause.source === 'operator';
}

function keyOf({ taskType, source, sinceMs }: Pause): string {
  return `${taskType} ${source} ${sinceMs}`;
}

function fieldsOf({ taskType, source, reason, by, sinceMs, untilMs }: Pause): Record<string, unknown> {
  const seconds = Math.round((untilMs - sinceMs) / 1_000);
  return { task_type: taskType, source, reason, by, seconds, until: new Date(untilMs).toISOString() };
}
