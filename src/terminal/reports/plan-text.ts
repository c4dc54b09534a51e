// The output of `cardpoll plan`: the verdict, the task types as a table, then the requirements of each part with the origin of
// the figures. Shows the API's values; computes nothing.
import { byteWords, grouped, span } from '../../domain/words.ts';
import type { PlanBody } from '../../resources/plan.ts';
import { wordWrap } from '../line.ts';
import { type Cell, commandLines, digitsOf, type Style, sentenceLines } from '../style.ts';
import { type Column, renderTable, textOf } from '../table.ts';

type PlanTask = PlanBody['tasks'][number];

const NOT_KNOWN = 'not known';
const NAME_COLUMNS = 12;

/** As records only the task types. */
export function planText(plan: PlanBody, style: Style): string {
  const table = renderTable(plan.tasks, columnsOf(style), style, style.layout.summaryColumns);
  if (!style.forPeople) return table;
  const [first = '', ...more] = sentenceLines(plan.text, style);
  const tone = plan.verdict === 'fits' ? 'green' : plan.verdict === 'needs' ? 'yellow' : 'bold';
  const commands = plan.tasks.flatMap(({ command }) => commandLines(command, 'dim', style));
  return textOf([
    style.paint(first, tone),
    ...more,
    ...commands,
    '',
    table.trimEnd(),
    ...legendOf(plan).flatMap((line) => sentenceLines(line, style).map((one) => style.paint(one, 'dim'))),
    '',
    ...factsOf(plan).flatMap(([name, text], at, all) =>
      factLines(name === all[at - 1]?.[0] ? '' : name, text, style),
    ),
  ]);
}

function columnsOf(style: Style): Column<PlanTask>[] {
  const rate = (value: number | null) => rateCell(value, style);
  return [
    { header: 'TASK', cell: (task) => style.text(task.task_type) },
    { header: 'NOW/S', cell: (task) => rate(task.demand_per_second) },
    { header: 'PLANNED/S', cell: (task) => rate(task.planned_per_second) },
    { header: 'BEST/S 1H', cell: (task) => rate(task.best_per_second) },
    { header: 'POSSIBLE/S', cell: (task) => rate(task.possible_per_second) },
    { header: 'CALL MS', cell: (task) => style.number(task.call_ms) },
    { header: 'LIMIT', cell: (task) => style.number(task.max_concurrency) },
    { header: 'NEEDED', cell: (task) => style.number(task.needed_concurrency) },
  ];
}

/** In records unrounded, like all numbers. */
function rateCell(value: number | null, style: Style): Cell {
  return value === null ? style.number(null) : style.number(value, digitsOf(value));
}

function legendOf({ tasks }: PlanBody): string[] {
  const ofDay = tasks.filter((task) => task.call_ms_from === 'last_day').map(({ task_type }) => task_type);
  return [
    'NOW, PLANNED: cards of the enabled configs / interval. BEST: successful polls of the best minute. POSSIBLE: limit in force / CALL MS, and the rate limits. NEEDED: PLANNED x CALL MS, and a tenth to spare.',
    ...(ofDay.length === 0
      ? []
      : [`CALL MS of ${ofDay.join(', ')} is the average of the last day with polls.`]),
  ];
}

function factsOf(plan: PlanBody): [name: string, text: string][] {
  const { cards, planned_cards: planned, tasks, rate_limits: limits, gateway } = plan;
  const changed = tasks.flatMap(({ task_type, interval_seconds: seconds }) =>
    seconds === null ? [] : `${task_type} every ${span(seconds)}`,
  );
  const ceiling = gateway.max_concurrency;
  return [
    ['cards', `${grouped(cards)} now, ${grouped(planned)} planned`],
    ...(changed.length === 0 ? [] : [['intervals', changed.join(', ')] as [string, string]]),
    [
      'rate limits',
      limits.length === 0
        ? 'none'
        : limits
            .map(
              (one) =>
                `${one.id}: ${orUnknown(one.planned_per_second)} of ${rateText(one.per_second)} calls a second`,
            )
            .join('; '),
    ],
    [
      'gateway',
      `calls at a time: ${orUnknown(gateway.needed_concurrency)}; gateway.max_concurrency: ${ceiling === null ? 'none' : grouped(ceiling)}`,
    ],
    ['redis', redisText(plan)],
    ['postgresql', databaseText(plan)],
    ['instances', instanceText(plan)],
    ...plan.assumptions.map((text): [string, string] => ['assumed', text]),
    ...plan.not_known.map((text): [string, string] => [NOT_KNOWN, text]),
  ];
}

function redisText({ redis }: PlanBody): string {
  const { used_bytes: used, limit_bytes: limit, bytes_per_card: each, planned_bytes: planned } = redis;
  const now =
    used === null
      ? NOT_KNOWN
      : `${byteWords(used)} of ${limit ? byteWords(limit) : NOT_KNOWN} used (INFO memory)`;
  return `up to ${byteWords(planned)}: ${Math.round(each)} bytes a card (constant, as the doctor); now ${now}`;
}

function databaseText({ database }: PlanBody): string {
  const { bytes, bytes_per_card: each, planned_bytes: planned } = database;
  if (bytes === null) return NOT_KNOWN;
  const now = `now ${byteWords(bytes)}`;
  if (each === null || planned === null) return `${NOT_KNOWN}; ${now}`;
  return `${byteWords(planned)}: ${grouped(each)} bytes a card (database / cards); ${now}`;
}

function instanceText({ instances }: PlanBody): string {
  const { workers, per_second: each, cpu_percent: cpu, at_least: least } = instances;
  const busy = cpu === null ? '' : `, ${cpu} % of a core`;
  const now = `now ${grouped(workers)}${each === null ? '' : `, ${rateText(each)} polls a second each (last 5 min)${busy}`}`;
  return least === null ? `${NOT_KNOWN}; ${now}` : `at least ${grouped(least)}; ${now}`;
}

function orUnknown(value: number | null): string {
  return value === null ? NOT_KNOWN : rateText(value);
}

function rateText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: digitsOf(value) });
}

function factLines(name: string, text: string, style: Style): string[] {
  const lines = wordWrap(text, style.layout.textColumns - NAME_COLUMNS);
  return lines.map((line, i) =>
    i === 0
      ? `${style.paint(name.padEnd(NAME_COLUMNS), 'dim')}${line}`
      : `${' '.repeat(NAME_COLUMNS)}${line}`,
  );
}
