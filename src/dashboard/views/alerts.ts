// The view of alerts, firing ones first: who has acknowledged them, which are silenced, which notifications were sent.
import type { AlertBody } from '../../api/client/client-bodies.ts';
import { relative, since } from '../format.ts';
import {
  type Line,
  missing,
  plain,
  type Room,
  type Span,
  type SpanColumn,
  span,
  stacked,
  tableLines,
} from '../layout.ts';
import { dataTimeMs, listedAlerts, type State } from '../state.ts';

export function alertsLines(state: State, { columns, rows }: Room): Line[] {
  const { alerts, firing } = state.data;
  if (alerts.body === null) return [missing('alerts', alerts.problem)];
  if (firing.body === null) return [missing('firing alerts', firing.problem)];
  const listed = listedAlerts(state);
  if (listed.length === 0) {
    return [
      plain('No alert has fired yet.'),
      [
        span('Rules: '),
        span('cardpoll alerts rules', 'accent'),
        span('; to get some: '),
        span('cardpoll alerts recommended --apply', 'accent'),
      ],
    ];
  }
  const { total } = firing.body;
  const summary: Line = [
    total === 0 ? span('● none fires', 'good') : span(`✖ ${total} ${total === 1 ? 'fires' : 'fire'}`, 'bad'),
    span(`  then the latest of ${alerts.body.total} alerts`, 'dim'),
  ];
  const table = tableLines(listed, alertColumns(dataTimeMs(state)), {
    columns,
    rows: rows - 2,
    selected: state.picked,
  });
  return stacked([[summary], table], rows);
}

/** `Backlog (realname): 52,000 > 50,000`. */
export function alertText({ rule_name, task_type, value, comparison, threshold }: AlertBody): string {
  return `${rule_name} (${task_type}): ${rounded(value)} ${comparison} ${rounded(threshold)}`;
}

function conditionText({ rule_type, comparison, threshold }: AlertBody): string {
  return `${rule_type} ${comparison} ${rounded(threshold)}`;
}

function rounded(value: number): string {
  return (Math.round(value * 100) / 100).toLocaleString('en-US');
}

function alertColumns(nowMs: number): SpanColumn<AlertBody>[] {
  return [
    {
      header: 'STATE',
      cell: ({ resolved_at }) => (resolved_at === null ? span('✖ fires', 'bad') : span('● resolved', 'good')),
    },
    { header: 'RULE', cell: ({ rule_name }) => span(rule_name), least: 10 },
    { header: 'HANDLED', cell: handledCell, drop: 1, least: 8 },
    { header: 'TASK', cell: ({ task_type }) => span(task_type) },
    { header: 'CONDITION', cell: (alert) => span(conditionText(alert)), drop: 2, least: 16 },
    { header: 'VALUE', cell: ({ value }) => span(rounded(value)), align: 'right' },
    { header: 'FIRED', cell: ({ fired_at }) => span(relative(fired_at, nowMs)) },
    {
      header: 'LASTED',
      cell: ({ fired_at, resolved_at }) =>
        span(since(fired_at, resolved_at === null ? nowMs : Date.parse(resolved_at))),
      drop: 4,
    },
    { header: 'NOTIFIED', cell: notifiedCell, drop: 3, least: 10 },
  ];
}

/** Who has acknowledged it, and whether its rule is silenced. */
function handledCell({ acknowledged_by: by, silenced }: AlertBody): Span {
  const words = [...(by === null ? [] : [`ack ${by}`]), ...(silenced ? ['silenced'] : [])];
  return span(words.join(', ') || '-');
}

function notifiedCell({ notifications }: AlertBody): Span {
  const words = notifications.map(({ event, status }) => `${event.replace('alert.', '')} ${status}`);
  const failed = notifications.some(({ status }) => status === 'failed');
  return span(words.join(', ') || '-', failed ? 'bad' : undefined);
}
