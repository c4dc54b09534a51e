// Alert rules and fired alerts as tables. Used by the alerts commands and the dashboard. Shows the API's values.
import { RULE_TYPE_FACTS } from '../../domain/alerts/alert-rule.ts';
import { healthLevel } from '../../domain/alerts/alert-text.ts';
import type { AlertBody, AlertRuleBody } from '../../resources/alerts.ts';
import { type Cell, exactText, type Style } from '../style.ts';
import { type ColumnsOf, fieldList, listTable } from '../table.ts';

type Condition = Pick<AlertRuleBody, 'rule_type' | 'comparison' | 'threshold'>;

export function conditionText({ rule_type, comparison, threshold }: Condition): string {
  if (rule_type === 'health') return `health ${comparison} ${healthLevel(threshold)}`;
  return `${rule_type} ${comparison} ${threshold}${RULE_TYPE_FACTS[rule_type].unit}`;
}

const AWAY_FROM_THRESHOLD = { '>': 'ceil', '<': 'floor' } as const;

/** The value at which an alert fired, with two digits after the point. It is rounded away from the threshold that it passed. */
function shownValue({ value, comparison }: Pick<AlertBody, 'value' | 'comparison'>): number {
  const roundingMode = AWAY_FROM_THRESHOLD[comparison];
  return Number(
    value.toLocaleString('en-US', { maximumFractionDigits: 2, useGrouping: false, roundingMode }),
  );
}

/** Why it fires, or `Backlog (realname): 52,000 > 50,000`. */
export function alertText(alert: AlertBody): string {
  // An older daemon does not send the cause.
  if (alert.cause?.text !== undefined) return `${alert.rule_name}: ${alert.cause.text}`;
  const { rule_name, task_type, comparison, threshold } = alert;
  return `${rule_name} (${task_type}): ${exactText(shownValue(alert))} ${comparison} ${exactText(threshold)} when it fired`;
}

export const ruleTable = listTable<AlertRuleBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'NAME', cell: (row) => style.text(row.name), least: 12 },
  { header: 'TASK', cell: (row) => style.text(row.task_type), drop: 3 },
  { header: 'FIRES WHEN', cell: (row) => style.text(conditionText(row)), least: 28, drop: 4 },
  { header: 'COOLDOWN', cell: (row) => style.seconds(row.cooldown_seconds), drop: 1 },
  { header: 'NOTIFIES', cell: (row) => style.text(row.notify_channels.join(',')), drop: 2 },
  { header: 'STATUS', cell: (row) => style.enabled(row.is_enabled) },
]);

export const ruleFields = fieldList<AlertRuleBody>((rule, style) => [
  ['id', style.text(rule.id)],
  ['name', style.text(rule.name)],
  ['task type', style.text(rule.task_type)],
  ['fires when', style.text(conditionText(rule))],
  ['status', style.enabled(rule.is_enabled)],
  ['cooldown', style.seconds(rule.cooldown_seconds)],
  ['notifies', style.text(rule.notify_channels.join(','))],
  ['webhook URL', style.text(rule.webhook_url)],
  ['webhook template', style.text(rule.webhook_format)],
  ['webhooks grouped', style.yesNo(rule.webhook_grouped)],
  ['own webhook secret', style.yesNo(rule.has_webhook_secret)],
  ['created', style.time(rule.created_at)],
  ['updated', style.time(rule.updated_at)],
]);

export const alertColumns: ColumnsOf<AlertBody> = (style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'RULE', cell: (row) => style.text(`${row.rule_id} ${row.rule_name}`), least: 12 },
  { header: 'TASK', cell: (row) => style.text(row.task_type), drop: 5 },
  { header: 'CONDITION', cell: (row) => style.text(conditionText(row)), drop: 1 },
  { header: 'AT FIRING', cell: (row) => atFiring(row, style), drop: 6 },
  { header: 'FIRED', cell: (row) => style.time(row.fired_at), drop: 7 },
  {
    header: 'RESOLVED',
    cell: ({ resolved_at }) => (resolved_at === null ? style.text('firing', 'red') : style.time(resolved_at)),
  },
  { header: 'SILENCED', cell: (row) => style.yesNo(row.silenced), drop: 3 },
  { header: 'ACKNOWLEDGED', cell: (row) => style.text(row.acknowledged_by), least: 12, drop: 4 },
  { header: 'NOTIFIED', cell: (row) => notificationsCell(row, style), least: 12, drop: 2 },
  // An older daemon does not send it.
  { header: 'CAUSE', cell: ({ cause }) => style.text(cause?.text ?? null), least: 24, drop: 8 },
];

function atFiring(alert: AlertBody, style: Style): Cell {
  if (alert.rule_type === 'health' && style.forPeople) return style.text(healthLevel(alert.value));
  return style.number(shownValue(alert), 0, 2);
}

/** One status per event, with the number of attempts if there were several. */
function notificationsCell({ notifications }: AlertBody, style: Style): Cell {
  const words = notifications.map(({ event, status, attempts }) => {
    const tries = attempts > 1 ? ` after ${attempts}` : '';
    return `${event.replace('alert.', '')} ${status}${tries}`;
  });
  const failed = notifications.some(({ status }) => status === 'failed');
  return style.text(words.join(', '), failed ? 'red' : undefined);
}
