// Initialisation as an operator acts on it: its progress with what reconciliation did, and comparing everything anew.
// Used by the admin API. The leader does the work; a request waits for it in the live store.
import { z } from 'zod';
import type { Actor } from '../../domain/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Reconciliation } from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { Audit } from '../audit.ts';
import { dateOf } from '../date-of.ts';
import { REPORT_NAMES, type ReportOf } from '../report.ts';
import { InitReporter, initReport } from './init-report.ts';

/** The comparison of rings and cards (docs/decisions/0012-reconciliation.md). */
const reconciliationReport = z.object({
  reason: z.string().describe('Why the pass under way runs; continuous for the slow one'),
  checked: z.int().describe('Cards compared in the pass under way'),
  startedAt: z.date().nullable(),
  sweptAt: z.date().nullable().describe('When the last whole pass ended'),
  healedMissing: z.int().describe('Repaired so far: cards in no ring'),
  healedForeign: z.int().describe('Repaired so far: members that do not belong'),
  healedDouble: z.int().describe('Repaired so far: cards in two rings'),
  requestedAt: z.date().nullable().describe('A request that waits for the leader; null: none'),
});

export const initState = initReport
  .extend({ reconciliation: reconciliationReport })
  .register(REPORT_NAMES, { id: 'InitState' });
export type InitState = ReportOf<typeof initState>;

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

  /** Asks the leader to compare every ring with the cards and repair what differs, in place. Asking twice is asking once. */
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
