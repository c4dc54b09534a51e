// Initialisation for operators: its progress, the repairs of reconciliation, and a request to compare everything again.
// Used by the admin API. The leader does the work; a request waits for it in the live store.
import type { Actor } from '../../domain/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Reconciliation } from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { Audit } from '../audit.ts';
import { dateOf } from '../date-of.ts';
import { InitReporter } from './init-report.ts';
import type { InitState } from './schedule-report.ts';

export class InitOperations {
  readonly #reporter: InitReporter;

  constructor(
    private readonly live: LiveStore,
    private readonly clock: Clock,
    private readonly audit: Audit,
  ) {
    this.#reporter = new InitReporter(clock);
  }

  async progress(): Promise<InitState> {
    const { coordination } = this.live;
    const [progress, state] = await Promise.all([coordination.initProgress(), coordination.reconciliation()]);
    return { ...this.#reporter.report(progress), reconciliation: reconciliationReportOf(state) };
  }

  /**
   * Asks the leader to compare every ring with the cards and to repair differences in place. Idempotent while it waits.
   */
  async rebuild(actor: Actor): Promise<InitState> {
    const { requestedMs, answeredRequestMs } = await this.live.coordination.reconciliation();
    if (requestedMs <= answeredRequestMs) {
      const now = Math.ceil(this.clock.now());
      const requested = Math.max(now, answeredRequestMs + 1);
      const change = { action: 'init.rebuild', object: 'rings', before: null, after: null };
      await this.audit.announce(actor, change, () => this.live.coordination.requestReconciliation(requested));
    }
    return this.progress();
  }
}

function reconciliationReportOf(state: Reconciliation): InitState['reconciliation'] {
  const { reason, checked, healedMissing, healedForeign, healedDouble } = state;
  const waits = state.requestedMs > state.answeredRequestMs;
  return {
    reason,
    checked,
    startedAt: dateOf(state.startedAtMs),
    sweptAt: dateOf(state.sweptAtMs),
    healedMissing,
    healedForeign,
    healedDouble,
    requestedAt: waits ? new Date(state.requestedMs) : null,
  };
}
