// The progress of the initialisation: the initialiser's saved state, with percent, time left and the verdict `stuck`. Used by the
// judge, by statistics, by explain, and by operations/schedule/init.ts.
import { percentDown } from '../domain/numbers.ts';
import type { Clock } from '../platform/clock.ts';
import type { InitProgress } from '../store/ports/live/coordination.ts';

/**
 * After this long without progress in a batch, or without a start, initialisation is stuck (operations interface, section 7): the
 * message must come within a minute, and a statement that PostgreSQL ends after 30 s is not stuck.
 */
const INIT_STUCK_AFTER_MS = 35_000;

export type InitProgressFacts = ReturnType<InitProgressReader['of']>;

export class InitProgressReader {
  /** Since when initialisation is pending, by the monotonic clock: no store has that time, least of all without a leader. */
  #pendingSince: number | null;

  /** @param pauseMs between two batches. */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly pauseMs: number,
  ) {
    this.#pendingSince = clock.monotonic();
  }

  /** @param nowMs by the live store's clock, which dates the progress */
  of(progress: InitProgress, nowMs: number) {
    const at = this.clock.monotonic();
    this.#pendingSince = progress.status === 'pending' ? (this.#pendingSince ?? at) : null;
    const status = this.#isStuck(progress, nowMs) ? ('stuck' as const) : progress.status;
    const etaSeconds = status === 'running' ? etaSecondsOf(progress, nowMs) : null;
    return { ...progress, status, percent: percentOf(progress), etaSeconds };
  }

  #isStuck({ status, updatedAtMs, startedAtMs }: InitProgress, nowMs: number): boolean {
    if (this.#pendingSince !== null) return this.clock.monotonic() - this.#pendingSince > INIT_STUCK_AFTER_MS;
    const changedAtMs = status === 'running' ? (updatedAtMs ?? startedAtMs) : null;
    return changedAtMs !== null && nowMs - changedAtMs > INIT_STUCK_AFTER_MS + this.pauseMs;
  }
}

function percentOf(progress: InitProgress): number {
  if (progress.status === 'completed') return 100;
  // Cards added during the run may raise `loaded` above the initial total, but the ring is still not loaded.
  return progress.total === 0 ? 0 : Math.min(99.9, percentDown((100 * progress.loaded) / progress.total));
}

function etaSecondsOf(progress: InitProgress, nowMs: number): number | null {
  if (progress.startedAtMs === null || progress.loaded === 0) return null;
  const msPerCard = Math.max(0, nowMs - progress.startedAtMs) / progress.loaded;
  return Math.ceil((Math.max(0, progress.total - progress.loaded) * msPerCard) / 1000);
}
