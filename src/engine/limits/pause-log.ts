// Logs when a task type is paused and when it resumes, once for the fleet, and notes pauses that the gateway asked for in the
// audit trail (operators' pauses are there already), and the ends of all pauses. Runs on the leader. A prolonged pause is the same
// pause. A new leader logs the pauses in force again.
//
// A pause that the live store has lost is not over: limits-in-force.ts restores it.

import { windowOfPause } from '../../domain/schedule/maintenance.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { Pause, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { AuditDigest } from '../audit-digest.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 500;
export class PauseLog extends LoopService<
  LeaderDeps & {
    readonly live: Pick<LiveStore, 'now'> & { readonly work: Pick<WorkQueue, 'pauses' | 'inForce'> };
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
    // A live store that lost its data grants a new lead, also to the same instance.
    if (fence !== this.#fence) this.#known = null;
    this.#fence = fence;
    if (fence === null) return LOOK_EVERY_MS;
    const { work } = this.deps.live;
    const found = await work.pauses();
    const present = [...found, ...(await this.#lost(found))];
    const ended = this.#ended(present);
    const nowMs = ended.length === 0 ? 0 : await this.deps.live.now();
    for (const pause of ended) this.#tellResumed(pause, nowMs);
    const now = new Map(present.map((pause) => [keyOf(pause), pause]));
    for (const [key, pause] of now) if (this.#known?.has(key) !== true) this.#tellPaused(pause);
    this.#known = now;
    return LOOK_EVERY_MS;
  }

  /** @returns former pauses that are neither in force nor replaced. */
  #ended(present: readonly Pause[]): Pause[] {
    const keys = new Set(present.map(keyOf));
    return [...(this.#known ?? [])]
      .filter(([key, pause]) => !keys.has(key) && !present.some((one) => replaces(one, pause)))
      .map(([, pause]) => pause);
  }

  /** @returns operators' pauses that were lost with the live store's data; limits-in-force.ts restores them. */
  async #lost(found: readonly Pause[]): Promise<Pause[]> {
    const gone = this.#ended(found).filter(({ source }) => source === 'operator');
    const { work } = this.deps.live;
    const seen = await Promise.all(gone.map(({ taskType }) => work.inForce(taskType)));
    return gone.filter((_, i) => seen[i]?.isInForce === false);
  }

  #tellPaused(pause: Pause): void {
    const { log, digest } = this.deps;
    const { source, taskType, reason, by, untilMs } = pause;
    log.warn(fieldsOf(pause), 'polling paused');
    if (source === 'operator') return;
    const after = { source, reason, by, until: new Date(untilMs) };
    digest.note({ action: 'pause.begin', object: `task_type ${taskType}`, before: null, after });
  }

  #tellResumed({ id, taskType, source, reason, by, untilMs }: Pause, nowMs: number): void {
    const { log, digest } = this.deps;
    log.info({ task_type: taskType, source }, 'polling resumed');
    // An operator who ends one leaves an entry, and so does the end of a maintenance window.
    const isNoted = windowOfPause(id) !== null || nowMs < untilMs;
    if (source === 'operator' && isNoted) return;
    const before = source === 'operator' ? { source, reason, by } : { source, reason };
    digest.note({ action: 'pause.end', object: `task_type ${taskType}`, before, after: null });
  }
}

/**
 * An operator's pause replaces an operator's pause. A pause by the gateway starts again only after the previous one has ended.
 */
function replaces(pause: Pause, before: Pause): boolean {
  return pause.taskType === before.taskType && pause.source === before.source && pause.source === 'operator';
}

function keyOf({ taskType, source, id, sinceMs }: Pause): string {
  return `${taskType} ${source} ${id ?? sinceMs}`;
}

function fieldsOf({ taskType, source, reason, by, sinceMs, untilMs }: Pause): Record<string, unknown> {
  const seconds = Math.round((untilMs - sinceMs) / 1_000);
  return { task_type: taskType, source, reason, by, seconds, until: new Date(untilMs).toISOString() };
}
