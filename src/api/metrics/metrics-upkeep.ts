// Metrics of stops, alerts, their webhooks and cleanup, of the whole fleet. Used by metrics.ts.
import { RULE_TYPES, ruleTypeFits } from '../../domain/alerts/alert-rule.ts';
import { STOP_MODES } from '../../domain/stops/stop.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { AlertCounts } from '../../operations/alerts/on-call.ts';
import type { CleanupProgress, Retention } from '../../resources/cleanup.ts';
import type { Overview } from '../../resources/stats.ts';
import type { Page } from './instruments.ts';

const STATES = [
  ['firing', 'Alerts that fire'],
  ['silenced', 'Firing alerts whose notifications are silenced'],
  ['acknowledged', 'Firing alerts that are acknowledged'],
] as const;

export function addAlerts(page: Page, { kinds, pendingWebhooks }: AlertCounts): void {
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

export function addCleanup(page: Page, retention: readonly Retention[], cleanup: CleanupProgress): void {
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

/** Absent while the database does not answer. */
export function addStops(page: Page, { stops, healthReasons }: Overview): void {
  const mode = page.gauge('stops_mode', '1 for the mode of stops in force', ['mode']);
  const done = page.gauge('stops_done', 'Stops of the last hour and the last day', ['window']);
  const budget = page.gauge('stops_budget', 'Stops allowed in an hour and in a day', ['window']);
  const resumed = page.gauge('stops_resumed', 'Cards resumed in the last day', ['window']);
  const overRunning = page.gauge(
    'cards_over_running',
    'Cards over their package that run and have no stop open',
  );
  const stoppedWithin = page.gauge(
    'cards_stopped_within',
    'Cards that cardpoll stopped and that are within their package by now',
  );
  // Either all of these values are known, or none.
  if (stops.mode === null) return;
  for (const one of STOP_MODES) mode.set({ mode: one }, one === stops.mode ? 1 : 0);
  done.set({ window: 'hour' }, stops.doneHour ?? 0);
  done.set({ window: 'day' }, stops.doneDay ?? 0);
  // Absent without a limit.
  if (stops.budgetHour !== null) budget.set({ window: 'hour' }, stops.budgetHour);
  if (stops.budgetDay !== null) budget.set({ window: 'day' }, stops.budgetDay);
  resumed.set({ window: 'day' }, stops.resumedDay ?? 0);
  page
    .gauge('stops_held', 'Stops that wait for the end of their cause, or for an operator')
    .set(stops.held ?? 0);
  page
    .gauge('stops_held_for_operator', 'Held stops that wait for an operator')
    .set(stops.heldForOperator ?? 0);
  page.gauge('stops_observed', 'Stops that mode observe did not make').set(stops.observed ?? 0);
  page
    .gauge('stops_unconfirmed', 'Cards that still run although the gateway acknowledged their stop')
    .set(stops.unconfirmed ?? 0);
  // Absent until a walk over all cards has ended.
  if (stops.overRunning !== null) overRunning.set(stops.overRunning);
  if (stops.stoppedWithin !== null) stoppedWithin.set(stops.stoppedWithin);
  page
    .gauge('stop_surge', '1 while cards are stopped far faster than usual')
    .set(healthReasons.some(({ code }) => code === 'stop_surge') ? 1 : 0);
  page
    .gauge('usage_jump', '1 while the readings of the fleet grow too fast to be believed')
    .set(healthReasons.some(({ code }) => code === 'usage_jump') ? 1 : 0);
}
