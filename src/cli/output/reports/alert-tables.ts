// Alert rules and fired alerts as tables. Used by the alerts commands. Shows what the API says.
import type { AlertBody, AlertRuleBody } from '../../../api/client/client-bodies.ts';
import { RULE_TYPE_FACTS } from '../../../domain/alerts/alert-rule.ts';
import type { Cell, Style } from '../style.ts';
import { renderFields, renderTable } from '../table.ts';

type Condition = Pick<AlertRuleBody, 'rule_type' | 'comparison' | 'threshold'>;

export function conditionText({ rule_type, comparison, threshold }: Condition): string {
  return `${rule_type} ${comparison} ${threshold}${RULE_TYPE_FACTS[rule_type].unit}`;
}

export function ruleTable(items: readonly AlertRuleBody[], style: Style): string {
  const columns = [
    { header: 'ID', cell: (row: AlertRuleBody) => style.id(row.id) },
    { header: 'NAME', cell: (row: AlertRuleBody) => style.text(row.name), least: 12 },
    { header: 'TASK', cell: (row: AlertRuleBody) => style.text(row.task_type), drop: 3 },
    {
      header: 'FIRES WHEN',
      cell: (row: AlertRuleBody) => style.text(conditionText(row)),
      least: 28,
      drop: 4,
    },
    { header: 'COOLDOWN', cell: (row: AlertRuleBody) => style.seconds(row.cooldown_seconds), drop: 1 },
    { header: 'NOTIFIES', cell: (row: AlertRuleBody) => style.text(row.notify_channels.join(',')), drop: 2 },
    { header: 'STATUS', cell: (row: AlertRuleBody) => style.enabled(row.is_enabled) },
  ];
  return renderTable(items, columns, style);
}

export function ruleFields(rule: AlertRuleBody, style: Style): string {
  return renderFields(
    [
      ['id', style.text(rule.id)],
      ['name', style.text(rule.name)],
      ['task type', style.text(rule.task_type)],
      ['fires when', style.text(conditionText(rule))],
      ['status', style.enabled(rule.is_enabled)],
      ['cooldown', style.seconds(rule.cooldown_seconds)],
      ['notifies', style.text(rule.notify_channels.join(','))],
      ['webhook URL', style.text(rule.webhook_url)],
      ['webhooks grouped', style.yesNo(rule.webhook_grouped)],
      ['own webhook secret', style.yesNo(rule.has_webhook_secret)],
      ['created', style.time(rule.created_at)],
      ['updated', style.time(rule.updated_at)],
    ],
    style,
  );
}

export function historyTable(items: readonly AlertBody[], style: Style): string {
  const columns = [
    { header: 'ID', cell: (row: AlertBody) => style.id(row.id) },
    { header: 'RULE', cell: (row: AlertBody) => style.text(`${row.rule_id} ${row.rule_name}`), least: 12 },
    { header: 'TASK', cell: (row: AlertBody) => style.text(row.task_type), drop: 5 },
    { header: 'CONDITION', cell: (row: AlertBody) => style.text(conditionText(row)), drop: 1 },
    { header: 'VALUE', cell: (row: AlertBody) => style.number(Math.round(row.value * 100) / 100), drop: 6 },
    { header: 'FIRED', cell: (row: AlertBody) => style.time(row.fired_at), drop: 7 },
    {
      header: 'RESOLVED',
      cell: ({ resolved_at }: AlertBody) =>
        resolved_at === null ? style.text('firing', 'red') : style.time(resolved_at),
    },
    { header: 'SILENCED', cell: (row: AlertBody) => style.yesNo(row.silenced), drop: 3 },
    {
      header: 'ACKNOWLEDGED',
      cell: (row: AlertBody) => style.text(row.acknowledged_by),
      least: 12,
      drop: 4,
    },
    { header: 'NOTIFIED', cell: (row: AlertBody) => notificationsCell(row, style), least: 12, drop: 2 },
  ];
  return renderTable(items, columns, style);
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
