// The first view: the health reasons after the worst one, the task types, and one line for everything else. Shows the API's
// values and computes none.
import { countWords } from '../../domain/words.ts';
import type { OverviewBody } from '../../resources/stats.ts';
import { capacityLine, fleetFacts, numbersOf, troubleFirst } from '../../terminal/fleet-lines.ts';
import { lineWidth } from '../../terminal/line.ts';
import { alertText } from '../../terminal/reports/alert-tables.ts';
import { signed } from '../../terminal/style.ts';
import { grouped, relative, ScreenStyle, since } from '../format.ts';
import { atMost, EMPTY, fact, gaugeSpans, type Line, MARK, missing, type Span, span } from '../layout.ts';
import type { Part, ViewProps } from '../part.tsx';
import { dataTimeMs, hasStrip, isWall, type State } from '../state.ts';
import { PANEL_COLUMNS, PANEL_ROWS, Panel } from '../ui.tsx';
import { furtherReasons } from './health.tsx';
import { STRIP_ROWS, stripLines } from './strip.ts';
import { FULL_CARD_ROWS, LEAST_CARD_ROWS, taskCards, taskTable } from './task-cards.tsx';
import { CHART_GAP, chartRowsIn, charts } from './task-charts.tsx';
import { wall } from './wall.tsx';

const INIT_BAR_COLUMNS = 20;
const MOST_ALERTS = 3;
/** With fewer columns the task types are a table. */
const CARDS_FROM_COLUMNS = 120;
/** Further reasons get this share of the rows. */
const REASON_SHARE = 1 / 4;
/** With fewer rows only the line of keys mentions further reasons. */
const REASONS_FROM_ROWS = 12;

/** @param isStill kept text: without the room for further reasons that keeps the layout in its place. */
export function overviewView({ state, columns, rows }: ViewProps, isStill = false): Part[] {
  const overview = state.data.overview.body;
  if (overview === null) return [[missing('overview', state.data.overview.problem)]];
  const nowMs = dataTimeMs(state);
  const history = state.data.history.body;
  const tasks = { tasks: overview.tasks, history, nowMs, picked: state.taskType, columns };
  const isWide = columns >= CARDS_FROM_COLUMNS;
  const reasonRows =
    rows < REASONS_FROM_ROWS ? 0 : Math.floor(rows * (isWide ? REASON_SHARE / 2 : REASON_SHARE));
  const reasons = furtherReasons(overview.health_reasons, { columns, rows: reasonRows, nowMs });
  const isTrouble = overview.health_reasons.length > 0;
  while (isTrouble && !isStill && reasons.length < reasonRows) reasons.push(EMPTY);
  const strip = hasStrip(state) ? stripLines(state) : [];
  const stripRows = strip.length === 0 ? 0 : STRIP_ROWS;
  const room = rows - stripRows - (reasons.length === 0 ? 0 : reasons.length + 1);
  const all = factLines(overview, state);
  // Rows for cards with all charts, with the problems below them; the lists take the rest.
  const cardRowsAtLeast = FULL_CARD_ROWS + 1 + all.filter(({ isCalm }) => !isCalm).length + 1;
  const lists = isWall(state) ? wall(state, { columns, rows: room - cardRowsAtLeast }) : null;
  const wallRows = lists === null ? 0 : lists.rows + 1;
  const besideCards = fitting(all, room - wallRows - FULL_CARD_ROWS - 1, columns);
  const cardRows = room - wallRows - besideCards.length - 1;
  if (isWide && cardRows >= LEAST_CARD_ROWS) {
    const cards = taskCards({ ...tasks, rows: cardRows });
    return [reasons, cards, strip, besideCards, lists === null ? [] : lists.part];
  }
  const table = taskTable(tasks);
  const factRows = room - table.length - 1;
  const facts = atMost(fitting(all, factRows, columns), factRows);
  const left = room - table.length - facts.length - 2;
  return [reasons, table, strip, facts, pickedCharts({ state, columns, rows: left })];
}

/** Charts in two rows. */
const CHART_LINES = 2;

/** The charts of the picked task type, if there is room for them. */
function pickedCharts({ state, columns, rows }: ViewProps): Part {
  const history = state.data.history.body;
  const task = state.data.overview.body?.tasks.find(({ task_type }) => task_type === state.taskType);
  const chartRows = chartRowsIn(rows - PANEL_ROWS, CHART_LINES);
  if (chartRows === 0 || task === undefined || history === null) return [];
  const width = Math.floor((columns - PANEL_COLUMNS - CHART_GAP) / 2);
  const title = [span(MARK, 'picked'), span(`${state.taskType}  `, 'bold'), span('Enter opens it', 'dim')];
  return (
    <Panel title={title}>
      {charts({ task, history, nowMs: dataTimeMs(state), columns: width, rows: chartRows, perRow: 2 })}
    </Panel>
  );
}

interface FactLine {
  readonly line: Line;
  /** With too little room calm facts are omitted first. */
  readonly isCalm: boolean;
}

/** Problems come first. Omits calm facts until the rest fits, beginning with the last. */
function fitting(facts: readonly FactLine[], rows: number, columns: number): Line[] {
  const kept = troubleFirst(facts);
  for (;;) {
    const lines = columns < CARDS_FROM_COLUMNS ? kept.map(({ line }) => line) : paired(kept, columns);
    if (lines.length <= rows || kept.at(-1)?.isCalm !== true) return lines;
    kept.pop();
  }
}

/** Two short calm facts share a line. */
function paired(facts: readonly FactLine[], columns: number): Line[] {
  const half = Math.floor(columns / 2);
  const isShort = ({ line, isCalm }: FactLine) => isCalm && lineWidth(line) < half;
  const short = facts.filter(isShort).map(({ line }) => line);
  const pairs = short.flatMap((line, i): Line[] => {
    const next = short[i + 1];
    if (i % 2 === 1) return [];
    return [next === undefined ? line : [...line, span(' '.repeat(half - lineWidth(line))), ...next]];
  });
  return [...facts.filter((one) => !isShort(one)).map(({ line }) => line), ...pairs];
}

function factLines(overview: OverviewBody, { columns, ...state }: State): FactLine[] {
  const nowMs = dataTimeMs({ columns, ...state });
  const style = new ScreenStyle(nowMs, columns);
  // The band already shows it.
  const isListed = overview.health_reasons[0]?.code === 'paused' && overview.pauses.length > 0;
  const capacity = capacityLine(overview, numbersOf(style));
  // That nothing is paused is not worth a line here.
  const facts = fleetFacts(overview, style, capacity, true).filter(
    ({ name, isCalm }) => name !== 'pauses' || !(isListed || isCalm),
  );
  return [
    ...facts.map(({ name, value, isCalm }) => ({ line: fact(name, ...value), isCalm })),
    ...alertFacts(state, nowMs),
    cleanupFact(state, nowMs),
  ];
}

function calm(name: string, ...value: readonly Span[]): FactLine {
  return { line: fact(name, ...value), isCalm: true };
}

function urgent(name: string, ...value: readonly Span[]): FactLine {
  return { line: fact(name, ...value), isCalm: false };
}

function alertFacts(state: Pick<State, 'data'>, nowMs: number): FactLine[] {
  const { body, problem } = state.data.firing;
  if (body === null) return [{ line: missing('alerts', problem), isCalm: true }];
  const { items: firing } = body;
  if (firing.length === 0) return [calm('alerts', span('no rule fires'))];
  const more = firing.length - MOST_ALERTS;
  return firing
    .slice(0, MOST_ALERTS)
    .map((alert, i) =>
      urgent(
        'alerts',
        signed('bad', alertText(alert)),
        span(`  for ${since(alert.fired_at, nowMs)}`),
        ...(more > 0 && i === MOST_ALERTS - 1 ? [span(`  (${more} more)`, 'dim')] : []),
      ),
    );
}

function cleanupFact({ data }: Pick<State, 'data'>, nowMs: number): FactLine {
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
        span(` ${grouped(deleted)} of ${countWords(total, 'row')}`),
      );
    }
    case 'failed': {
      const why = items
        .flatMap(({ target, error }) => (error === null ? [] : [`${target}: ${error}`]))
        .join('; ');
      return urgent('cleanup', signed('bad', `failed ${relative(finished_at, nowMs)}`), span(`  ${why}`));
    }
    case 'completed':
      return calm(
        'cleanup',
        span(`completed ${relative(finished_at, nowMs)}, ${countWords(deleted, 'row')} removed`),
      );
  }
}
