// The views that are lists: alerts, manual triggers, live instances and polling configs. Keys act on the picked row.
import type { AlertBody, ConfigBody, OverviewBody, TriggerBody } from '../../api/client/client-bodies.ts';
import { gauge } from '../charts.ts';
import { count, relative, seconds, since } from '../format.ts';
import {
  hint,
  type Line,
  missing,
  plain,
  type Room,
  type Span,
  type SpanColumn,
  span,
  stacked,
  type Tone,
  tableLines,
} from '../layout.ts';
import { dataTimeMs, listedAlerts, type State } from '../state.ts';

/** A summary, and the rows around the picked one. */
function listLines<Row>(
  summary: Line,
  items: readonly Row[],
  wanted: readonly SpanColumn<Row>[],
  { columns, rows }: Room,
  { picked }: State,
): Line[] {
  const table = tableLines(items, wanted, { columns, rows: rows - 2, selected: picked });
  return stacked([[summary], table], rows);
}

/** Firing alerts first: who has acknowledged them, which are silenced, which notifications were sent. */
export function alertsLines(state: State, room: Room): Line[] {
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
  return listLines(summary, listed, alertColumns(dataTimeMs(state)), room, state);
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

function handledCell({ acknowledged_by: by, silenced }: AlertBody): Span {
  const words = [...(by === null ? [] : [`ack ${by}`]), ...(silenced ? ['silenced'] : [])];
  return span(words.join(', ') || '-');
}

function notifiedCell({ notifications }: AlertBody): Span {
  const words = notifications.map(({ event, status }) => `${event.replace('alert.', '')} ${status}`);
  const failed = notifications.some(({ status }) => status === 'failed');
  return span(words.join(', ') || '-', failed ? 'bad' : undefined);
}

const TRIGGER_TONES: Partial<Record<TriggerBody['status'], Tone>> = {
  completed: 'good',
  cancelled: 'warn',
  running: 'accent',
};
const BAR_COLUMNS = 10;

/** Manual triggers and their progress, with the latest first. */
export function triggersLines(state: State, room: Room): Line[] {
  const { body, problem } = state.data.triggers;
  if (body === null) return [missing('triggers', problem)];
  if (body.items.length === 0) {
    return [
      plain('Nothing was triggered by hand.'),
      [
        span('To have a card polled now: '),
        span('cardpoll trigger single --card-id 42 --task realname', 'accent'),
      ],
    ];
  }
  const summary = plain(`the latest ${body.items.length} of ${body.total} triggers`, 'dim');
  return listLines(summary, body.items, triggerColumns(dataTimeMs(state)), room, state);
}

function triggerColumns(nowMs: number): SpanColumn<TriggerBody>[] {
  return [
    { header: 'TRIGGER', cell: ({ trigger_id }) => span(trigger_id) },
    { header: 'TASK', cell: ({ task_type }) => span(task_type) },
    { header: 'STATUS', cell: ({ status }) => span(status, TRIGGER_TONES[status]) },
    { header: 'KIND', cell: ({ kind }) => span(kind.replace('_', ' ')), drop: 1 },
    {
      header: 'DONE',
      cell: ({ total, succeeded, failed }) =>
        span(gauge(total === 0 ? 1 : (succeeded + failed) / total, BAR_COLUMNS), 'accent'),
      drop: 2,
    },
    {
      header: 'CARDS',
      cell: ({ total, total_estimated }) => span(`${total_estimated ? '~' : ''}${count(total)}`),
      align: 'right',
    },
    { header: 'WAIT', cell: ({ waiting }) => span(count(waiting)), align: 'right' },
    { header: 'RUN', cell: ({ running }) => span(count(running)), align: 'right', drop: 3 },
    { header: 'OK', cell: ({ succeeded }) => span(count(succeeded)), align: 'right', drop: 3 },
    {
      header: 'FAILED',
      cell: ({ failed }) => span(count(failed), failed > 0 ? 'bad' : undefined),
      align: 'right',
    },
    { header: 'MADE', cell: ({ created_at }) => span(relative(created_at, nowMs)), drop: 3 },
  ];
}

type Instance = OverviewBody['workers'][number];

/** Live instances: what each of them runs, and the age of its heartbeat. */
export function instancesLines(state: State, room: Room): Line[] {
  const { body, problem } = state.data.overview;
  if (body === null) return [missing('instances', problem)];
  const { workers } = body;
  if (workers.length === 0)
    return [[span('✖ no instance is alive', 'bad'), span('  '), ...hint('cardpoll daemon')]];
  const running = workers.reduce((sum, { in_flight }) => sum + in_flight, 0);
  const summary = plain(`${workers.length} alive, ${count(running)} polls running`, 'dim');
  return listLines(summary, workers, instanceColumns(dataTimeMs(state)), room, state);
}

function instanceColumns(nowMs: number): SpanColumn<Instance>[] {
  return [
    { header: 'HOST', cell: ({ hostname }) => span(hostname), least: 12 },
    { header: 'PID', cell: ({ pid }) => span(pid), align: 'right' },
    { header: 'RUNNING', cell: ({ in_flight }) => span(count(in_flight)), align: 'right' },
    { header: 'HEARTBEAT', cell: ({ heartbeat_at }) => heartbeatCell(heartbeat_at, nowMs) },
    { header: 'UP', cell: ({ started_at }) => span(since(started_at, nowMs)), align: 'right' },
    { header: 'VERSION', cell: ({ version }) => span(version), drop: 4, least: 7 },
    { header: 'ROLES', cell: ({ roles }) => span(roles.join(',')), drop: 3, least: 8 },
    { header: 'CACHE %', cell: cacheCell, align: 'right', drop: 2 },
    { header: 'PROBES', cell: ({ probe_address }) => span(probe_address ?? '-'), drop: 1, least: 14 },
  ];
}

function heartbeatCell(at: string, nowMs: number): Span {
  const late = nowMs - Date.parse(at) > 5_000;
  return span(relative(at, nowMs), late ? 'warn' : undefined);
}

function cacheCell({ cache_hit_ratio: ratio }: Instance): Span {
  return span(ratio === null ? '-' : Math.floor(100 * ratio));
}

/** Polling configs: which cards they match, how often those are polled, and what is wrong with them. */
export function configsLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.configs;
  if (body === null) return [missing('configs', problem)];
  if (body.items.length === 0)
    return [
      [
        span('▲ no polling config: nothing is polled', 'warn'),
        span('  '),
        ...hint('cardpoll configs create --help'),
      ],
    ];
  const problems = body.items.flatMap(({ id, problems: own }) =>
    own.map((text) => plain(`▲ config ${id}: ${text}`, 'warn')),
  );
  const shownProblems = problems.slice(0, Math.max(0, Math.floor(rows / 3)));
  const table = tableLines(body.items, CONFIG_COLUMNS, {
    columns,
    rows: rows - shownProblems.length - 1,
    selected: state.picked,
  });
  return stacked([table, shownProblems], rows);
}

const CONFIG_COLUMNS: readonly SpanColumn<ConfigBody>[] = [
  { header: 'ID', cell: ({ id }) => span(id), align: 'right' },
  { header: 'NAME', cell: ({ name }) => span(name), least: 20 },
  { header: 'TASK', cell: ({ task_type }) => span(task_type) },
  {
    header: 'STATUS',
    cell: ({ status }) => (status === 1 ? span('● enabled', 'good') : span('■ disabled', 'warn')),
  },
  { header: 'EVERY', cell: ({ interval_seconds }) => span(seconds(interval_seconds)), align: 'right' },
  { header: 'REALLY', cell: reallyCell, align: 'right' },
  { header: 'MEMBERS', cell: ({ members }) => span(count(members)), align: 'right' },
  { header: 'CARDS', cell: ({ card_condition }) => span(card_condition), drop: 3 },
  { header: 'CARRIER', cell: ({ carrier_id }) => span(carrier_id ?? 'all'), align: 'right', drop: 2 },
  { header: 'PRIORITY', cell: ({ priority }) => span(priority), align: 'right', drop: 1 },
];

function reallyCell({ interval_seconds: wanted, achieved_interval_seconds: achieved }: ConfigBody): Span {
  return span(seconds(achieved), achieved !== null && achieved > 1.5 * wanted ? 'warn' : undefined);
}
