// Progress of progressive initialisation as operators read it: adds percent, time left and the verdict `stuck` to what
// the initialiser saved. Used by stats.ts. Pure.
import type { InitProgress, InitStatus } from '../store/live-store.ts';
import { rounded } from './task-stats.ts';

/** Running initialisation whose progress has not changed for longer is stuck (specification, section 7). */
export const INIT_STUCK_AFTER_MS = 60_000;

export interface InitReport {
  readonly status: InitStatus | 'stuck';
  /** Cards to load and loaded so far. */
  readonly total: number;
  readonly loaded: number;
  readonly percent: number;
  readonly batch: number;
  readonly batches: number;
  readonly startedAt: Date | null;
  readonly updatedAt: Date | null;
  readonly finishedAt: Date | null;
  /** At the average pace since the start; null unless running and something is loaded. */
  readonly etaSeconds: number | null;
}

export function initReportOf(progress: InitProgress, nowMs: number): InitReport {
  const status = isStuck(progress, nowMs) ? 'stuck' : progress.status;
  return {
    status,
    total: progress.total,
    loaded: progress.loaded,
    percent: percentOf(progress),
    batch: progress.batch,
    batches: progress.batches,
    startedAt: dateOf(progress.startedAtMs),
    updatedAt: dateOf(progress.updatedAtMs),
    finishedAt: dateOf(progress.finishedAtMs),
    etaSeconds: status === 'running' ? etaSecondsOf(progress, nowMs) : null,
  };
}

function isStuck(progress: InitProgress, nowMs: number): boolean {
  const changedAtMs = progress.updatedAtMs ?? progress.startedAtMs;
  return progress.status === 'running' && changedAtMs !== null && nowMs - changedAtMs > INIT_STUCK_AFTER_MS;
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

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
