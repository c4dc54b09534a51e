// Metrics of alerts, their webhooks and cleanup, of the whole fleet. Used by metrics.ts.
import { RULE_TYPES, ruleTypeFits } from '../../domain/alerts/alert-rule.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { AlertCounts, AlertHistoryOperations } from '../../operations/alerts/alert-history.ts';
import type { CleanupOperations } from '../../operations/cleanup.ts';
import type { CleanupProgress, Retention } from '../../operations/cleanup-report.ts';
import type { Page } from './metrics-page.ts';

export interface UpkeepSources {
  readonly alertHistory: Pick<AlertHistoryOperations, 'counts'>;
  readonly cleanup: Pick<CleanupOperations, 'configs' | 'progress'>;
}

export interface Upkeep {
  readonly alerts: AlertCounts;
  readonly retention: readonly Retention[];
  readonly cleanup: CleanupProgress;
}

/** Throws `unavailable` while the record store is away. */
export async function readUpkeep({ alertHistory, cleanup }: UpkeepSources): Promise<Upkeep> {
  const [alerts, retention, progress] = await Promise.all([
    alertHistory.counts(),
    cleanup.configs(),
    cleanup.progress(),
  ]);
  return { alerts, retention, cleanup: progress };
}

export function addUpkeep(page: Page, upkeep: Upkeep): void {
  addAlerts(page, upkeep.alerts);
  addCleanup(page, upkeep);
}

const STATES = [
  ['firing', 'Alerts that fire'],
  ['silenced', 'Firing alerts whose notifications are silenced'],
  ['acknowledged', 'Firing alerts that are acknowledged'],
] as const;

function addAlerts(page: Page, { kinds, pendingWebhooks }: AlertCounts): void {
  for (const [state, help] of STATES) {
    const gauge = page.gauge(`alerts_${state}`, help, ['rule_type', 'task_type']);
    for (const rule_type of RULE_TYPES) {
      for (const task_type of TASK_TYPES)
        if (ruleTypeFits(rule_type, task_type)) gauge.set({ rule_type, task_type }, 0);
    }
    for (const kind of kinds) gauge.set({ rule_type: kind.ruleType, task_type: kind.taskType }, kind[state]);
  }
  page.gauge('webhooks_pending', 'Webhooks still to be delivered').set(pendingWebhooks);
}

function addCleanup(page: Page, { retention, cleanup }: Upkeep): void {
  page.gauge('cleanup_running', '1 while a cleanup runs').set(cleanup.status === 'running' ? 1 : 0);
  page
    .gauge('cleanup_failed', '1 when the last cleanup could not clean everything')
    .set(cleanup.status === 'failed' ? 1 : 0);
  const ran = page.gauge('cleanup_last_run_timestamp_seconds', 'Time of the last cleanup', ['target']);
  for (const { target, lastRunAt } of retention) {
    if (lastRunAt !== null) ran.set({ target }, lastRunAt.getTime() / 1000);
  }
  const rows = page.gauge('cleanup_deleted_rows', 'Rows the present or last cleanup removed', ['target']);
  for (const { target } of retention) rows.set({ target }, 0);
  for (const { target, deleted } of cleanup.items) rows.set({ target }, deleted);
}
