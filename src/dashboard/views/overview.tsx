// The first view: the reasons of the health after the worst, the task types, and one line for everything else.
// Shows the API's values and computes none.
import type { OverviewBody, PauseBody } from '../../api/client/client-bodies.ts';
import { capacityLine, gatewayWords, stopsLine } from '../../cli/output/fleet-lines.ts';
import { lineWidth } from '../../cli/output/line.ts';
import { alertText } from '../../cli/output/reports/alert-tables.ts';
import { cardCount } from '../../cli/output/style.ts';
import { count, counted, grouped, measure, relative, seconds, since } from '../format.ts';
import { fact, gaugeSpans, type Line, missing, type Span, span } from '../layout.ts';
import type { Part, ViewProps } from '../part.tsx';
import { dataTimeMs, hasStrip, isWall, type State } from '../state.ts';
import { PANEL_COLUMNS, PANEL_ROWS, Panel } from '../ui.tsx';
import { furtherReasons } from './health.tsx';
import { STRIP_ROWS, stripLines } from './strip.ts';
import { LEAST_CARD_ROWS, taskCards, taskTable } from './task-cards.tsx';
import { CHART_GAP, chartRowsIn, charts } from './task-charts.tsx';
import { WALL_ROWS, wall } from './wall.tsx';

const INIT_BAR_COLUMNS = 20;
const MOST_ALERTS = 3;
/** With fewer columns the task types are a table. */
const CARDS_FROM_COLUMNS = 120;
/** Further reasons get this share of the rows. */
const REASON_SHARE = 1 / 4;
/** With fewer rows the key line alone says that there are more. */
const REASONS_FROM_ROWS = 12;

export function overviewView({ state, columns, rows }: ViewProps): Part[] {
  const overview = state.data.overview.body;
  if (overview === null) return [[missing('overview', state.data.overview.problem)]];
  const nowMs = dataTimeMs(state);
  const history = state.data.history.body;
  const tasks = { tasks: overview.tasks, history, nowMs, picked: state.taskType, columns };
  const reasonRows = rows < REASONS_FROM_ROWS ? 0 : Math.floor(rows * REASON_SHARE);
  const reasons = furtherReasons(overview.health_reasons, { columns, rows: reasonRows, nowMs });
  const all = factLines(overview, state);
  const room = rows - (reasons.length === 0 ? 0 : reasons.length + 1);
  const wallRows = isWall(state) ? WALL_ROWS : 0;
  const stripRows = hasStrip(state) ? STRIP_ROWS : 0;
  const cardRows = room - wallRows - stripRows - paired(all, columns).length - 1;
  const hasCards = columns >= CARDS_FROM_COLUMNS && cardRows >= LEAST_CARD_ROWS;
  const table = taskTable(tasks);
  const strip = stripRows === 0 ? [] : stripLines(state);
  const facts = hasCards ? paired(all, columns) : fitting(all, room - stripRows - table.length - 1);
  const left = room - stripRows - table.length - facts.length - 2;
  if (!hasCards) return [reasons, table, strip, facts, pickedCharts({ state, columns, rows: left })];
  const cards = taskCards({ ...tasks, rows: cardRows });
  return [reasons, cards, strip, facts, wallRows === 0 ? [] : wall(state, columns)];
}

/** Charts in two rows. */
const CHART_LINES = 2;

/** The charts of the picked task type, where there is room for them. */
function pickedCharts({ state, columns, rows }: ViewProps): Part {
  const history = state.data.history.body;
  const task = state.data.overview.body?.tasks.find(({ task_type }) => task_type === state.taskType);
  const chartRows = chartRowsIn(rows - PANEL_ROWS, CHART_LINES);
  if (chartRows === 0 || task === undefined || history === null) return [];
  const width = Math.floor((columns - PANEL_COLUMNS - CHART_GAP) / 2);
  const title = [span(`${state.taskType}  `, 'bold'), span('Enter opens it', 'dim')];
  return (
    <Panel title={title} tone="picked">
      {charts({ task, history, nowMs: dataTimeMs(state), columns: width, rows: chartRows, perRow: 2 })}
    </Panel>
  );
}

interface Fact {
  readonly line: Line;
  /** Calm facts are left out first where there is too little room. */
  readonly isCalm: boolean;
}

/** Leaves out calm facts until the rest fits, beginning with the last. */
function fitting(facts: readonly Fact[], rows: number): Line[] {
  let tooMany = facts.length - Math.max(0, rows);
  const kept = [...facts].reverse().filter(({ isCalm }) => {
    if (tooMany <= 0 || !isCalm) return true;
    tooMany -= 1;
    return false;
  });
  return kept.reverse().map(({ line }) => line);
}

/** Two short calm facts share a line where there are many columns. */
function paired(facts: readonly Fact[], columns: number): Line[] {
  const half = Math.floor(columns / 2);
  const lines: Line[] = [];
  let first: Line | null = null;
  for (const { line, isCalm } of facts) {
    const width = lineWidth(line);
    const isShort = isCalm && width < half;
    if (first !== null && isShort) {
      lines[lines.length - 1] = [...first, span(' '.repeat(half - lineWidth(first))), ...line];
      first = null;
    } else {
      lines.push(line);
      first = isShort ? line : null;
    }
  }
  return lines;
}

function factLines(overview: OverviewBody, state: State): Fact[] {
  const nowMs = dataTimeMs(state);
  return [
    capacityFact(overview),
    ...gatewayFacts(overview, nowMs),
    ...pauseFacts(overview.pauses, nowMs),
    stopsFact(overview),
    initFact(overview, nowMs),
    ...alertFacts(state, nowMs),
    instanceFact(overview),
    cleanupFact(state, nowMs),
  ];
}

function calm(name: string, ...value: readonly Span[]): Fact {
  return { line: fact(name, ...value), isCalm: true };
}

function urgent(name: string, ...value: readonly Span[]): Fact {
  return { line: fact(name, ...value), isCalm: false };
}

function capacityFact(overview: OverviewBody): Fact {
  const { advice, held_by } = overview.capacity;
  const text = capacityLine(overview, { rate: measure, seconds });
  if (advice !== null) return urgent('capacity', span(text, 'red'));
  return held_by === null ? calm('capacity', span(text)) : urgent('capacity', span(text, 'yellow'));
}

function gatewayFacts({ gateway }: OverviewBody, nowMs: number): Fact[] {
  const held = gateway.interfaces.filter(({ breaker }) => breaker !== 'closed');
  if (held.length === 0) {
    const text = gatewayWords(gateway, count);
    if (gateway.slow) return [urgent('gateway', span(`▲ ${text}`, 'yellow'))];
    return [calm('gateway', span('● ', 'green'), span(text))];
  }
  return held.map(({ interface: name, breaker, since: from, reason, next_probe_at, instances }) => {
    const state = breaker === 'open' ? span(`✖ ${name} down`, 'red') : span(`▲ ${name} recovering`, 'yellow');
    const how = [
      ...(from === null ? [] : [`since ${since(from, nowMs)}`]),
      ...(next_probe_at === null ? [] : [`next probe ${relative(next_probe_at, nowMs)}`]),
      `${instances} ${instances === 1 ? 'instance' : 'instances'}`,
      ...(reason === null ? [] : [reason]),
    ];
    return urgent('gateway', state, span(`  ${how.join(', ')}`));
  });
}

function pauseFacts(pauses: readonly PauseBody[], nowMs: number): Fact[] {
  if (pauses.length === 0) return [calm('pauses', span('none'))];
  return pauses.map(({ task_type, until, by, source, reason }) => {
    const left = Math.max(0, Math.ceil((Date.parse(until) - nowMs) / 1000));
    const who = source === 'gateway' ? 'the gateway' : by;
    return urgent(
      'pauses',
      span(`■ ${task_type} ${seconds(left)} left`, source === 'gateway' ? 'red' : 'yellow'),
      span(`  by ${who}${reason === '' ? '' : `: ${reason}`}`),
    );
  });
}

function stopsFact({ stops }: OverviewBody): Fact {
  const { text, isUrgent } = stopsLine(stops, count);
  return isUrgent ? urgent('stops', span(text, 'yellow')) : calm('stops', span(text));
}

function initFact({ init }: OverviewBody, nowMs: number): Fact {
  const { status, percent: done, loaded, total, eta_seconds, finished_at } = init;
  if (status === 'completed')
    return calm('init', span(`completed ${relative(finished_at, nowMs)}, ${cardCount(total)}`));
  const how = ` ${done} %  ${count(loaded)} of ${count(total)}`;
  const eta = eta_seconds === null ? '' : `  ${seconds(eta_seconds)} left`;
  return urgent(
    'init',
    span(`${status} `, status === 'stuck' ? 'red' : undefined),
    ...gaugeSpans(done / 100, INIT_BAR_COLUMNS, 'accent'),
    span(`${how}${eta}`),
  );
}

function instanceFact({ workers }: OverviewBody): Fact {
  if (workers.length === 0) return urgent('instances', span('✖ none is alive', 'red'));
  const versions = [...new Set(workers.map(({ version }) => version))];
  const mixed = versions.length > 1 ? [span(`▲ versions ${versions.join(', ')}  `, 'yellow')] : [];
  const each = workers.map(
    ({ hostname, pid, in_flight }) => `${hostname}/${pid} ${count(in_flight)} running`,
  );
  return {
    line: fact('instances', span(`${workers.length}  `), ...mixed, span(each.join(', '))),
    isCalm: mixed.length === 0,
  };
}

function alertFacts(state: State, nowMs: number): Fact[] {
  const { body, problem } = state.data.firing;
  if (body === null) return [{ line: missing('alerts', problem), isCalm: true }];
  const { items: firing } = body;
  if (firing.length === 0) return [calm('alerts', span('none fires'))];
  const more = firing.length - MOST_ALERTS;
  return firing
    .slice(0, MOST_ALERTS)
    .map((alert, i) =>
      urgent(
        'alerts',
        span('✖ ', 'red'),
        span(alertText(alert), 'red'),
        span(`  for ${since(alert.fired_at, nowMs)}`),
        ...(more > 0 && i === MOST_ALERTS - 1 ? [span(`  (${more} more)`, 'dim')] : []),
      ),
    );
}

function cleanupFact({ data }: State, nowMs: number): Fact {
  const { body, problem } = data.cleanup;
  if (body === null) return { line: missing('cleanup', problem), isCalm: true };
  const { status, deleted, items, finished_at } = body;
  const total = items.reduce((sum, item) => sum + item.total, 0);
  switch (status) {
    case 'idle':
      return calm('cleanup', span('has never run'));
    case 'running': {
      return urgent(
        'cleanup',
        span('running '),
        ...gaugeSpans(total === 0 ? 0 : deleted / total, INIT_BAR_COLUMNS, 'accent'),
        span(` ${grouped(deleted)} of ${counted(total, 'row', grouped)}`),
      );
    }
    case 'failed': {
      const why = items
        .flatMap(({ target, error }) => (error === null ? [] : [`${target}: ${error}`]))
        .join('; ');
      return urgent('cleanup', span(`✖ failed ${relative(finished_at, nowMs)}`, 'red'), span(`  ${why}`));
    }
    case 'completed':
      return calm(
        'cleanup',
        span(`completed ${relative(finished_at, nowMs)}, ${counted(deleted, 'row', grouped)} removed`),
      );
  }
}
