// The first view: health with its reason and the command that helps, the task types, and one line for everything else.
// Shows the API's values and computes none.
import type { OverviewBody, PauseBody } from '../../api/client/client-bodies.ts';
import { capacityLine, gatewayWords, stopsLine } from '../../cli/output/fleet-lines.ts';
import { cardCount } from '../../cli/output/style.ts';
import { gauge } from '../charts.ts';
import { count, counted, grouped, measure, relative, seconds, since } from '../format.ts';
import { fact, type Line, missing, type Room, type Span, span, stacked } from '../layout.ts';
import { dataTimeMs, type State } from '../state.ts';
import { calmWords, healthLines } from './health.ts';
import { alertText } from './lists.ts';
import { chartLines, fittingChartRows, LEAST_ROWS_OF_CHARTS } from './task-charts.ts';
import { paceTable, queueTable } from './task-tables.ts';

/** With fewer rows there is one table of task types instead of two. */
const TWO_TABLES_FROM_ROWS = 17;
const INIT_BAR_COLUMNS = 20;
/** Two lines for the reason, one for the command. */
const LEAST_HEALTH_ROWS = 3;
const MOST_ALERTS = 3;
/** The heading, and the blank line before it. */
const CHARTS_HEADING_ROWS = 2;

export function overviewLines(state: State, { columns, rows }: Room): Line[] {
  const overview = state.data.overview.body;
  if (overview === null) return [missing('overview', state.data.overview.problem)];
  const nowMs = dataTimeMs(state);
  const { taskType: picked } = state;
  const tables = { tasks: overview.tasks, history: state.data.history.body, nowMs, picked, columns };
  const isShort = rows < TWO_TABLES_FROM_ROWS;
  const taskParts = isShort ? [paceTable(tables, true)] : [paceTable(tables, false), queueTable(tables)];
  const facts = factLines(overview, state);
  const used = [...taskParts, facts].reduce((sum, part) => sum + part.length, 0);
  const calm = calmWords(overview.cards_total, overview);
  const health = healthLines(overview, {
    columns,
    rows: Math.max(LEAST_HEALTH_ROWS, rows - used - taskParts.length - 1),
    nowMs,
    calm,
  });
  const parts = [health, ...taskParts, fitting(facts, rows - used + facts.length - health.length)];
  return stacked(
    [...parts, pickedCharts(state, columns, rows - stacked(parts, Number.POSITIVE_INFINITY).length)],
    rows,
  );
}

/** The charts of the picked task type, where there is room for them. */
function pickedCharts(state: State, columns: number, rows: number): Line[] {
  const room = rows - CHARTS_HEADING_ROWS;
  if (room < LEAST_ROWS_OF_CHARTS) return [];
  const heading: Line = [span(`${state.taskType}  `, 'bold'), span('Enter opens it', 'dim')];
  return [heading, ...chartLines(state, state.taskType, columns, fittingChartRows(room))];
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
    const state = breaker === 'open' ? span(`✖ ${name} open`, 'red') : span(`▲ ${name} half open`, 'yellow');
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
  const bar = `${gauge(done / 100, INIT_BAR_COLUMNS)} ${done} %  ${count(loaded)} of ${count(total)}`;
  const eta = eta_seconds === null ? '' : `  ${seconds(eta_seconds)} left`;
  return urgent(
    'init',
    span(`${status} `, status === 'stuck' ? 'red' : undefined),
    span(bar, 'accent'),
    span(eta),
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
      const bar = gauge(total === 0 ? 0 : deleted / total, INIT_BAR_COLUMNS);
      return urgent(
        'cleanup',
        span(`running ${bar} `, 'accent'),
        span(`${grouped(deleted)} of ${counted(total, 'row', grouped)}`),
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
