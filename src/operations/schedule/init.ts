// Initialisation for operators: its progress (src/health/init-progress.ts), the repairs of reconciliation, and a request to compare
// everything again. Used by the admin API. The leader does the work; a request waits for it in the live store.
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import type { InitState } from '../../resources/schedule.ts';
import type { OperationDeps } from '../deps.ts';

export class InitOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'live' | 'audit' | 'health'>) {}

  async progress(): Promise<InitState> {
    const { live } = this.deps;
    const [nowMs, progress, state] = await Promise.all([
      live.now(),
      live.coordination.initProgress(),
      live.coordination.reconciliation(),
    ]);
    const waits = state.requestedMs > state.answeredRequestMs;
    const requestedAt = waits ? new Date(state.requestedMs) : null;
    return {
      ...dated(this.deps.health.init.of(progress, nowMs)),
      reconciliation: { ...dated(state), requestedAt },
    };
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
}
