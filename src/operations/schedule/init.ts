// Initialisation for operators: its progress, with percent, time left and the verdict `stuck` added to what the initialiser
// saved, the repairs of reconciliation, and a request to compare everything again. Used by the admin API, and for the progress
// by stats.ts and explainer.ts. The leader does the work; a request waits for it in the live store.
import type { Actor } from '../../domain/audit.ts';
import { percentDown } from '../../domain/numbers.ts';
import type { InitProgress } from '../../store/ports/live/coordination.ts';
import { dated } from '../date-of.ts';
import type { OperationMeans } from '../means.ts';
import type { InitReport, InitState } from './schedule-report.ts';

/**
 * Longer without progress in a batch, or not even begun, is stuck (operations interface, section 7): its message goes out within a
 * minute, and a statement that PostgreSQL ends after 30 s is not one.
 */
const INIT_STUCK_AFTER_MS = 35_000;

export class InitOperations {
  /** Since when initialisation is pending, by the monotonic clock: no store has that time, least of all without a leader. */
  #pendingSince: number | null;

  constructor(private readonly deps: Pick<OperationMeans, 'live' | 'clock' | 'audit' | 'initPauseMs'>) {
    this.#pendingSince = deps.clock.monotonic();
  }

  /** @param nowMs by the live store's clock, which dates the progress */
  report(progress: InitProgress, nowMs: number): InitReport {
    const at = this.deps.clock.monotonic();
    this.#pendingSince = progress.status === 'pending' ? (this.#pendingSince ?? at) : null;
    const status = this.#isStuck(progress, nowMs) ? 'stuck' : progress.status;
    return {
      ...dated(progress),
      status,
      percent: percentOf(progress),
      etaSeconds: status === 'running' ? etaSecondsOf(progress, nowMs) : null,
    };
  }

  async progress(): Promise<InitState> {
    const { live } = this.deps;
    const [nowMs, progress, state] = await Promise.all([
      live.now(),
      live.coordination.initProgress(),
      live.coordination.reconciliation(),
    ]);
    const waits = state.requestedMs > state.answeredRequestMs;
    const requestedAt = waits ? new Date(state.requestedMs) : null;
    return { ...this.report(progress, nowMs), reconciliation: { ...dated(state), requestedAt } };
  }

  /**
   * Asks the leader to compare every ring with the cards and to repair differences in place. Idempotent while it waits.
   */
  async rebuild(actor: Actor): Promise<InitState> {
    const { live, audit } = this.deps;
    const { requestedMs, answeredRequestMs } = await live.coordination.reconciliation();
    if (requestedMs <= answeredRequestMs) {
      const now = Math.ceil(await live.now());
      const requested = Math.max(now, answeredRequestMs + 1);
      const change = { action: 'init.rebuild', object: 'rings', before: null, after: null };
      await audit.announce(actor, change, () => live.coordination.requestReconciliation(requested));
    }
    return this.progress();
  }

  #isStuck({ status, updatedAtMs, startedAtMs }: InitProgress, nowMs: number): boolean {
    const { clock, initPauseMs } = this.deps;
    if (this.#pendingSince !== null) return clock.monotonic() - this.#pendingSince > INIT_STUCK_AFTER_MS;
    const changedAtMs = status === 'running' ? (updatedAtMs ?? startedAtMs) : null;
    return changedAtMs !== null && nowMs - changedAtMs > INIT_STUCK_AFTER_MS + initPauseMs;
  }
}

function percentOf(progress: InitProgress): number {
  if (progress.status === 'completed') return 100;
  // Cards added while it runs may carry `loaded` past the total counted at the start: a ring is not loaded yet nevertheless.
  return progress.total === 0 ? 0 : Math.min(99.9, percentDown((100 * progress.loaded) / progress.total));
}

function etaSecondsOf(progress: InitProgress, nowMs: number): number | null {
  if (progress.startedAtMs === null || progress.loaded === 0) return null;
  const msPerCard = Math.max(0, nowMs - progress.startedAtMs) / progress.loaded;
  return Math.ceil((Math.max(0, progress.total - progress.loaded) * msPerCard) / 1000);
}
