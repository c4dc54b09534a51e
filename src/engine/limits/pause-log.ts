// Logs when a task type is paused and when it resumes, once for the fleet, and notes pauses that the gateway asked for
// in the audit trail (operators' pauses are there already). Runs on the leader. A prolonged pause is the same pause. A
// new leader logs the pauses in force again.

import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { Pause, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { AuditDigest } from '../audit-digest.ts';
import type { LeaderMeans } from '../leadership.ts';

const LOOK_EVERY_MS = 500;

export class PauseLog extends LoopService<
  LeaderMeans & {
    readonly work: Pick<WorkQueue, 'pauses'>;
    readonly log: Logger;
    readonly digest: Pick<AuditDigest, 'note'>;
  }
> {
  readonly name = 'pause-log';
  #known = new Map<string, Pause>();

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) {
      this.#known.clear();
      return LOOK_EVERY_MS;
    }
    const now = new Map((await this.deps.work.pauses()).map((pause) => [keyOf(pause), pause]));
    const present = [...now.values()];
    for (const [key, pause] of this.#known) {
      if (!now.has(key) && !present.some((one) => replaces(one, pause))) this.#tellResumed(pause);
    }
    for (const [key, pause] of now) if (!this.#known.has(key)) this.#tellPaused(pause);
    this.#known = now;
    return LOOK_EVERY_MS;
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
