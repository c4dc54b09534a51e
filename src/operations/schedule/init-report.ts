// Progress of initialisation for operators: adds percent, time left and the verdict `stuck` to what the initialiser
// saved. Used by stats.ts. Pure.
import { rounded } from '../../domain/rounded.ts';
import type { Clock } from '../../platform/clock.ts';
import type { InitProgress } from '../../store/ports/live/coordination.ts';
import { dated } from '../date-of.ts';
import type { InitReport } from './schedule-report.ts';

/** Longer without progress, or not even begun, is stuck (operations interface, section 7). */
const INIT_STUCK_AFTER_MS = 60_000;

/** Remembers since when initialisation is pending: no store has that time, least of all without a leader. */
export class InitReporter {
  #pendingSinceMs: number | null;

  constructor(private readonly clock: Clock) {
    this.#pendingSinceMs = clock.now();
  }

  report(progress: InitProgress): InitReport {
    const now = this.clock.now();
    this.#pendingSinceMs = progress.status === 'pending' ? (this.#pendingSinceMs ?? now) : null;
    return initReportOf(progress, now, this.#pendingSinceMs);
  }
}

/** @param pendingSinceMs null: not known */
export function initReportOf(
  progress: InitProgress,
  nowMs: number,
  pendingSinceMs: number | null = null,
): InitReport {
  const { lastCardId: _, changeMark: __, ...reported } = progress;
  const status = isStuck(progress, nowMs, pendingSinceMs) ? 'stuck' : progress.status;
  return {
    ...dated(reported),
    status,
    percent: percentOf(progress),
    etaSeconds: status === 'running' ? etaSecondsOf(progress, nowMs) : null,
  };
}

function isStuck(progress: InitProgress, nowMs: number, pendingSinceMs: number | null): boolean {
  if (progress.status === 'completed') return false;
  const changedAtMs =
    progress.status === 'pending' ? pendingSinceMs : (progress.updatedAtMs ?? progress.startedAtMs);
  return changedAtMs !== null && nowMs - changedAtMs > INIT_STUCK_AFTER_MS;
}

function percentOf(progress: InitProgress): number {
  if (progress.status === 'completed') return 100;
  // Cards added while it runs may carry `loaded` past the total counted at the start.
  return progress.total === 0 ? 0 : Math.min(100, rounded((100 * progress.loaded) / progress.total));
}

function etaSecondsOf(progress: InitProgress, nowMs: number): number | null {
  if (progress.startedAtMs === null || progress.loaded === 0) return null;
  const msPerCard = Math.max(0, nowMs - progress.startedAtMs) / progress.loaded;
  return Math.ceil((Math.max(0, progress.total - progress.loaded) * msPerCard) / 1000);
}
