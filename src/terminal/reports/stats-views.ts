// The output of `cardpoll stats`: the fleet at a glance (health with its causes and the helpful commands, in the order of the
// daemon, then capacity and the task types), and statistics as tables. Shows the API's values; computes nothing.

import type {
  HealthReasonBody,
  InitStateBody,
  OverviewBody,
  QueueBody,
  TaskBody,
} from '../../api/client/client-bodies.ts';
import { plainText } from '../../domain/plain-text.ts';
import { calmWords, capacityFacts, type Fact, fleetFacts, instanceName, numbersOf } from '../fleet-lines.ts';
import { wordWrap } from '../line.ts';
import {
  type Cell,
  commandLines,
  digitsOf,
  healthSigned,
  labelledLines,
  type Style,
  sentenceLines,
} from '../style.ts';
import { type Column, type ColumnsOf, fieldList, listTable, renderTable, textOf } from '../table.ts';

/** `follows`: a consequence of the previous cause. */
type Cause = Pick<HealthReasonBody, 'severity' | 'text' | 'command'> & { readonly follows: boolean };

const FACTS_OF_CAUSES: ReadonlyArray<readonly [fact: string, code: string]> = [
  ['gateway', 'breaker_open'],
  ['pauses', 'paused'],
];

/** Heading, causes and a table; as records only the task types. */
export function overviewText(overview: OverviewBody, style: Style): string {
  const table = taskTable(overview.tasks, style, style.layout.summaryColumns);
  if (!style.forPeople) return table;
  const capacity = capacityFacts(overview, numbersOf(style)).join(', ');
  // A held interface is already a cause, and so is a pause.
  const codes: readonly string[] = overview.health_reasons.map(({ code }) => code);
  const said = FACTS_OF_CAUSES.filter(([, code]) => codes.includes(code)).map(([name]) => name);
  const facts = fleetFacts(overview, style, capacity).filter(({ name }) => !said.includes(name));
  const lines = [...causeLines(overview, style), '', table.trimEnd(), ''];
  return textOf([...lines, ...facts.flatMap((fact) => factLines(fact, style))]);
}

/** The first line is the health of the whole fleet with the worst cause. */
function causeLines(overview: OverviewBody, style: Style): string[] {
  const health = style.health(overview.health);
  const [worst, ...others] = overview.health_reasons.map((reason) => reasonCause(reason, style));
  if (worst === undefined)
    return [`${style.paint(health.text, health.tone)}: ${calmWords(overview.cards_total, overview)}`];
  const first = labelledLines(health, ': ', worst.text, style);
  return [
    ...first,
    ...commandLines(worst.command, 'dim', style),
    ...others.flatMap((cause) => linesOf(cause, style)),
  ];
}

function reasonCause({ severity, text, command, since, caused_by }: HealthReasonBody, style: Style): Cause {
  const began = since ? ` (since ${style.clockTime(since)})` : '';
  // An older daemon does not send it.
  return { severity, text: `${text}${began}`, command, follows: Boolean(caused_by) };
}

function linesOf(cause: Cause, style: Style): string[] {
  if (cause.follows) return sentenceLines(cause.text, style, '    ').map((line) => style.paint(line, 'dim'));
  return [
    ...labelledLines(healthSigned(cause.severity, ''), ' ', cause.text, style),
    ...commandLines(cause.command, 'dim', style),
  ];
}

const NAME_COLUMNS = 11;

/** The name and the value, over as many lines as necessary. */
function factLines({ name, value: [first, rest] }: Fact, style: Style): string[] {
  const room = style.layout.textColumns - NAME_COLUMNS;
  const lines = wordWrap(plainText(`${first.text}${rest?.text ?? ''}`), room);
  return lines.map((line, i) => {
    const before = i === 0 ? style.paint(name.padEnd(NAME_COLUMNS), 'dim') : ' '.repeat(NAME_COLUMNS);
    if (rest === undefined) return `${before}${style.paint(line, first.tone)}`;
    const sign = i === 0 && line.startsWith(first.text) ? first.text : '';
    return `${before}${sign === '' ? '' : style.paint(sign, first.tone)}${style.paint(line.slice(sign.length), rest.tone)}`;
  });
}

export function taskTable(
  tasks: readonly TaskBody[],
  style: Style,
  columns: number | null = style.layout.columns,
): string {
  const shown = style.forPeople ? readableTaskColumns(style) : recordTaskColumns(style);
  return renderTable(tasks, shown, style, columns);
}

export const queueTable = listTable<QueueBody>((style) => [
  { header: 'TASK', cell: (queue) => style.text(queue.task_type) },
  { header: 'QUEUE', cell: (queue) => style.number(queue.queue_length) },
  { header: 'DUE', cell: (queue) => style.number(queue.due), drop: 3 },
  { header: 'MANUAL', cell: (queue) => style.number(queue.manual_length), drop: 6 },
  { header: 'RUNNING', cell: (queue) => style.number(queue.concurrency.current) },
  { header: 'LIMIT', cell: (queue) => style.number(queue.concurrency.max), drop: 2 },
  { header: 'SCHEDULED', cell: (queue) => style.number(queue.scheduled_cards), drop: 1 },
  { header: 'LAG', cell: (queue) => style.seconds(queue.schedule_lag_seconds), drop: 4 },
  { header: 'BACKOFF', cell: (queue) => style.number(queue.backoff), drop: 5 },
]);

/** Initialisation, with the repairs by the comparison of schedule and cards. */
export const initStateFields = fieldList<InitStateBody>((init, style) => {
  const { reconciliation: state, status, finished_at: finished, eta_seconds: eta } = init;
  const { healed_missing: missing, healed_foreign: foreign, healed_double: twice } = state;
  const [loaded, total, unplanned, wrong, double] = [init.loaded, init.total, missing, foreign, twice].map(
    (count) => style.number(count).text,
  );
  const more =
    status === 'completed'
      ? '; later cards follow within seconds'
      : ` (${init.percent} %), batch ${init.batch} of ${init.batches}`;
  return [
    ['status', style.text(status, status === 'stuck' ? 'red' : undefined)],
    ['reason', style.text(init.reason)],
    ['started', style.time(init.started_at)],
    finished === null ? ['last progress', style.time(init.updated_at)] : ['finished', style.time(finished)],
    ...(eta === null ? [] : [['time left', style.seconds(eta)] as const]),
    [init.reason === 'build' ? 'loaded' : 'compared', style.text(`${loaded} of ${total} cards${more}`)],
    [
      'comparison',
      style.text(state.requested_at === null ? state.reason : 'requested, waiting for the leader'),
    ],
    ['last whole pass', style.time(state.swept_at)],
    [
      'repaired',
      style.text(`${unplanned} not scheduled, ${wrong} wrongly scheduled, ${double} scheduled twice`),
    ],
  ];
});

function readableTaskColumns(style: Style): Column<TaskBody>[] {
  return [
    { header: 'TASK', cell: (task) => style.text(task.task_type) },
    { header: 'HEALTH', cell: (task) => healthCell(task, style) },
    { header: 'QUEUE', cell: (task) => style.number(task.queue_length) },
    { header: 'MANUAL', cell: (task) => style.number(task.manual_length), drop: 8 },
    { header: 'BACKOFF', cell: (task) => style.number(task.backoff), drop: 7 },
    { header: 'RUNNING', cell: (task) => runningCell(task, style), drop: 9 },
    { header: '/S 10S', cell: (task) => rateCell(task.rate_per_second_10s, style), drop: 10 },
    { header: '/S 5MIN', cell: (task) => rateCell(task.rate_per_second, style), drop: 6 },
    { header: 'OK %', cell: (task) => successCell(task, style), drop: 11 },
    { header: 'P50/P95 MS', cell: (task) => percentilesCell(task, style), drop: 5 },
    { header: 'AVG MS', cell: (task) => averageCell(task, style), drop: 4 },
    { header: 'LAG', cell: (task) => style.seconds(task.schedule_lag_seconds), drop: 3 },
    { header: 'SUCCEEDED', cell: (task) => style.number(task.succeeded), drop: 1 },
    { header: 'FAILED', cell: (task) => style.number(task.failed), drop: 2 },
  ];
}

/** Columns of records keep their positions: new ones are added at the end. */
function recordTaskColumns(style: Style): Column<TaskBody>[] {
  return [
    { header: 'TASK', cell: (task) => style.text(task.task_type) },
    { header: 'HEALTH', cell: (task) => healthCell(task, style) },
    { header: 'QUEUE', cell: (task) => style.number(task.queue_length) },
    { header: 'RUNNING', cell: (task) => style.number(task.concurrency.current) },
    { header: 'LIMIT', cell: (task) => style.number(task.concurrency.max) },
    { header: 'RATE_5MIN', cell: (task) => style.number(task.rate_per_second) },
    { header: 'SUCCESS_PERCENT', cell: (task) => style.number(task.success_rate) },
    { header: 'AVG_MS', cell: (task) => style.number(task.avg_duration_ms) },
    { header: 'SUCCEEDED', cell: (task) => style.number(task.succeeded) },
    { header: 'FAILED', cell: (task) => style.number(task.failed) },
    { header: 'LAG_SECONDS', cell: (task) => style.seconds(task.schedule_lag_seconds) },
    { header: 'RATE_10S', cell: (task) => style.number(task.rate_per_second_10s) },
    { header: 'MANUAL', cell: (task) => style.number(task.manual_length) },
    { header: 'BACKOFF', cell: (task) => style.number(task.backoff) },
    { header: 'P50_MS', cell: (task) => style.number(task.p50_ms) },
    { header: 'P95_MS', cell: (task) => style.number(task.p95_ms) },
    { header: 'SUCCESS_PERCENT_10S', cell: (task) => style.number(task.success_rate_10s) },
    { header: 'AVG_MS_10S', cell: (task) => style.number(task.avg_duration_ms_10s) },
    { header: 'P50_MS_10S', cell: (task) => style.number(task.p50_ms_10s) },
    { header: 'P95_MS_10S', cell: (task) => style.number(task.p95_ms_10s) },
    { header: 'USUAL_MS', cell: (task) => style.number(task.usual_duration_ms) },
  ];
}

/** With at least one decimal, so that the rates of a column are comparable. */
function rateCell(perSecond: number, style: Style): Cell {
  return style.number(perSecond, Math.max(1, digitsOf(perSecond)));
}

/** Up to these differences the figure of five minutes is not shown. */
const SAME_POINTS = 2;
const SAME_FACTOR = 1.5;

/** `40 (5 min 96.1)`: the last seconds, and five minutes if that differs. */
function successCell({ success_rate_10s: now, success_rate: five }: TaskBody, style: Style): Cell {
  const differs = now !== null && five !== null && Math.abs(now - five) > SAME_POINTS;
  return besideFive(style.percent(now), differs ? style.percent(five) : null);
}

function averageCell({ avg_duration_ms_10s: now, avg_duration_ms: five }: TaskBody, style: Style): Cell {
  const differs =
    now !== null && five !== null && Math.max(now, five) > SAME_FACTOR * Math.max(1, Math.min(now, five));
  return besideFive(style.number(now), differs ? style.number(five) : null);
}

function besideFive(now: Cell, five: Cell | null): Cell {
  return five === null ? now : { ...now, text: `${now.text} (5 min ${five.text})` };
}

function percentilesCell({ p50_ms_10s: half, p95_ms_10s: nearly }: TaskBody, style: Style): Cell {
  return { text: [half, nearly].map((ms) => style.number(ms).text).join('/'), align: 'right' };
}

/** `60/84 of 100`: running tasks, the limit in force, and the configured limit if it differs. */
function runningCell({ concurrency, effective_concurrency: effective }: TaskBody, style: Style): Cell {
  const [running, limit] = [concurrency.current, effective].map((value) => style.number(value).text);
  const configured = effective === concurrency.max ? '' : ` of ${style.number(concurrency.max).text}`;
  return { text: `${running}/${limit}${configured}`, align: 'right' };
}

export const instanceColumns: ColumnsOf<OverviewBody['workers'][number]> = (style) => [
  { header: 'INSTANCE', cell: (row) => style.text(instanceName(row.worker_id)), least: 8 },
  { header: 'PID', cell: (row) => style.id(row.pid), drop: 6 },
  { header: 'ROLES', cell: (row) => style.text(row.roles.join(',')), least: 8, drop: 5 },
  { header: 'VERSION', cell: (row) => style.text(row.version), least: 7, drop: 7 },
  { header: 'RUNNING', cell: (row) => style.number(row.in_flight) },
  { header: 'STARTED', cell: (row) => style.time(row.started_at), drop: 4 },
  { header: 'HEARTBEAT', cell: (row) => style.heartbeat(row.heartbeat_at) },
  { header: 'CACHE %', cell: (row) => style.percent(percent(row.cache_hit_ratio)), drop: 2 },
  { header: 'LATE/REDIS/PG MS', cell: (row) => ownSideCell(row, style), drop: 3 },
  { header: 'PROBES', cell: (row) => style.text(row.probe_address), least: 10, drop: 3 },
  { header: 'ID', cell: (row) => style.text(row.worker_id), least: 8, drop: 1 },
];

/** `2/1/3`: delay of its timers, and response times of Redis and PostgreSQL. */
function ownSideCell(row: OverviewBody['workers'][number], style: Style): Cell {
  // An older daemon does not send them.
  const { loop_delay_ms: late = null, redis_ms: redis = null, database_ms: database = null } = row;
  return { text: [late, redis, database].map((ms) => style.number(ms).text).join('/'), align: 'right' };
}

function percent(ratio: number | null): number | null {
  return ratio === null ? null : Math.round(ratio * 10_000) / 100;
}

function healthCell({ offered, health }: TaskBody, style: Style): Cell {
  return offered ? style.health(health) : { text: 'not offered', tone: 'dim' };
}
