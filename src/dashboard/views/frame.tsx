// The whole screen: a header with the fleet and the age of its data, the verdict as a band, the open view or the help page, and
// at the bottom questions, results and keys. Both lists of keys are generated from the keymap.

import { Box } from 'ink';
import { lineWidth, padded } from '../../terminal/line.ts';
import { widthOf } from '../../terminal/width.ts';
import { seconds } from '../format.ts';
import { type Binding, bindingsOf, KEYMAP, refusalOf } from '../keymap.ts';
import { atMost, clamped, EMPTY, type Line, plain, type Room, span } from '../layout.ts';
import { linesOf, type Part, stacked, type ViewProps } from '../part.tsx';
import { ageMsOf, dataTimeMs, isStale, type State, TAB_ORDER, type View } from '../state.ts';
import { Rows } from '../ui.tsx';
import { cardView } from './card.ts';
import { Band, bandLines, healthView, verdictOf } from './health.tsx';
import { alertsView, configsView, instancesView, triggersView } from './lists.ts';
import { overviewView } from './overview.tsx';
import { stopsView } from './stops.ts';
import { taskView } from './task.tsx';

const SMALLEST = { columns: 60, rows: 15 } as const;
/** Larger screens stay empty at their right and bottom: a frame costs a millisecond for every 300 characters or so. */
const LARGEST = { columns: 250, rows: 80 } as const;
/** Rows for the title of a plan, to leave room for its effects. */
const MOST_TITLE_ROWS = 2;

const VIEW_OF: Record<View, (props: ViewProps) => Part[]> = {
  overview: overviewView,
  task: taskView,
  alerts: alertsView,
  triggers: triggersView,
  instances: instancesView,
  configs: configsView,
  stops: stopsView,
  health: healthView,
  card: cardView,
};

/** One line less than the terminal has, so that writing the last one never scrolls, and no line wider than the terminal. */
export function renderFrame(state: State): string[] {
  const height = Math.max(1, state.rows - 1);
  const columns = Math.min(state.columns, LARGEST.columns);
  const isTooSmall = state.columns < SMALLEST.columns || state.rows < SMALLEST.rows;
  const lines = isTooSmall
    ? linesOf(
        [plain(`need ${SMALLEST.columns}x${SMALLEST.rows}, this is ${state.columns}x${state.rows}`)],
        columns,
      )
    : frameLines({ state, columns, rows: Math.min(height, LARGEST.rows) });
  return Array.from({ length: height }, (_, i) => lines[i] ?? '');
}

/** The view as text to keep: without keys, and without empty lines at the end. */
export function renderStill(state: State): string[] {
  const columns = Math.min(state.columns, LARGEST.columns);
  // Kept text has the time of its data instead of an age.
  const moment = plain(new Date(dataTimeMs(state)).toISOString().replace(/\.\d+/, ''));
  const top = [
    ...linesOf([ends(titleOf(state), moment, columns)], columns),
    // Kept text contains the full sentence.
    ...linesOf(bandOf(state, { columns, rows: TABS_FROM_ROWS }, state.rows), columns),
  ];
  const view = overviewView({ state, columns, rows: state.rows - top.length }, true);
  const lines = [...top, ...stacked(view, columns, isStale(state))].slice(0, state.rows);
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}

/** The last two lines: the last message, and the keys. A question may have more. */
const BOTTOM_ROWS = 2;
/** With fewer rows only the help page has a line of tabs. */
const TABS_FROM_ROWS = 20;

function frameLines({ state, columns, rows }: ViewProps): string[] {
  const hasTabs = rows >= TABS_FROM_ROWS - 1 || state.help;
  const top = [
    ...linesOf([ends(titleOf(state), freshness(state), columns)], columns),
    ...(hasTabs ? linesOf([tabsLine(state, columns)], columns) : []),
    ...(state.help ? [] : linesOf(bandOf(state, { columns, rows }), columns)),
  ];
  const props = { state, columns, rows: rows - top.length - BOTTOM_ROWS };
  const view = state.help
    ? linesOf(help(props), columns)
    : stacked(VIEW_OF[state.view](props), columns, isStale(state));
  const bottom = linesOf([...dialogLines(state, columns), helpLine(state, columns)], columns);
  const above = Math.max(0, rows - bottom.length);
  const lines = [...top, ...view].slice(0, above);
  return [...lines, ...Array<string>(above - lines.length).fill(''), ...bottom];
}

/** Most rows of the band: the sentence and the helpful command, such as the undo of a preceding change. */
const BAND_ROWS = 4;
/** From this many rows on, the band of trouble has a coloured row above and below. */
const TALL_FROM_ROWS = 38;

/** The overview and the view of a task type show the sentence and its command, in this many rows, other views one line. */
function bandOf(state: State, { columns, rows }: Room, most: number | null = null): Part {
  const verdict = verdictOf(state);
  if (verdict === null) return [];
  const isMain = state.view === 'overview' || state.view === 'task' || verdict.tone === 'stale';
  const isTall = state.view === 'overview' && verdict.tone !== 'normal' && rows >= TALL_FROM_ROWS;
  const lines = bandLines(verdict, { columns, rows: isMain ? (most ?? BAND_ROWS) : 1 });
  // What is below stays in its place while the cause changes.
  const isFixed = most === null && state.view === 'overview' && ['warning', 'alert'].includes(verdict.tone);
  while (isFixed && lines.length < BAND_ROWS) lines.push(EMPTY);
  return <Band tone={verdict.tone} {...{ lines, isTall }} />;
}

/** Left and right part of the first line, which changes each second. */
function ends(left: Line, right: Line, columns: number): Line {
  return [...padded(left, columns - lineWidth(right) - 1, 'left'), span(' '), ...right];
}

function titleOf(state: State): Line {
  const version = state.data.overview.body?.version;
  const about = `  ${state.view === 'task' ? state.taskType : state.view}`;
  return [
    span('cardpoll', 'bold'),
    span(about),
    span(`  ${state.daemon}${version === undefined ? '' : `  ${version}`}`, 'dim'),
  ];
}

function freshness(state: State): Line {
  const ageMs = ageMsOf(state);
  const age = ageMs === null ? '' : seconds(Math.floor(ageMs / 1000));
  if (isStale(state)) return plain(`✖ ${age} old`, 'red');
  if (ageMs !== null) return [span('● live', 'green'), span(`, ${age} old`)];
  return state.nextTryAtMs === null ? plain('asking ...', 'dim') : plain('✖ no answer', 'red');
}

/** The numbers and names of the views, with the open one marked. With little room they are close together, or cut. */
function tabsLine({ view, taskType }: State, columns: number): Line {
  const tabs = (edge: string, letters: number) =>
    TAB_ORDER.map((tab, i) => {
      const name = tab === 'task' ? taskType : tab;
      return span(`${edge}${i + 1} ${name.slice(0, letters)}${edge}`, tab === view ? 'tab' : 'dim');
    });
  const wide = tabs(' ', 12);
  if (lineWidth(wide) <= columns) return wide;
  const close = tabs('', 12).flatMap((tab, i) => (i === 0 ? [tab] : [span(' '), tab]));
  return lineWidth(close) <= columns ? close : tabs(' ', 4);
}

function dialogLines(state: State, columns: number): Line[] {
  const { confirm, prompt, notice } = state;
  if (confirm !== null) {
    const { title, effects, command } = confirm;
    const wrapped = (text: string) => clamped(text, columns, Number.POSITIVE_INFINITY);
    const consequences = effects.flatMap(wrapped).map((line) => plain(line));
    return [
      plain('─'.repeat(columns), 'dim'),
      ...atMost(
        wrapped(title).map((line) => plain(line, 'bold')),
        MOST_TITLE_ROWS,
      ),
      ...atMost(consequences, Math.max(1, Math.floor(state.rows / 2) - MOST_TITLE_ROWS - 3)),
      [span('same as: ', 'dim'), span(command, 'accent')],
    ];
  }
  if (prompt !== null) {
    const question = `${prompt.question.text} `;
    const problem = prompt.problem === null ? EMPTY : plain(prompt.problem, 'red');
    const room = columns - widthOf(question) - 1;
    return [problem, [span(question, 'bold'), span(endOf(prompt.text, room)), span('▏', 'picked')]];
  }
  if (notice !== null) return [plain(notice.text, notice.tone)];
  const refusal = refusalOf(state);
  return [state.readOnly && refusal !== null ? plain(refusal, 'dim') : EMPTY];
}

/** The end of the typed text: of a long text the place of the next character stays visible. */
function endOf(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const characters = [...text];
  while (characters.length > 0 && widthOf(`…${characters.join('')}`) > columns) characters.shift();
  return `…${characters.join('')}`;
}

const KEY_COLUMNS = 11;
const COLUMN_COLUMNS = 36;

/** All keys. Keys that change something have a separate heading. */
function help({ columns, rows }: Room): Part {
  const keys = KEYMAP.filter(({ mode = 'anywhere' }) => mode === 'anywhere');
  const lines = [
    plain('Keys', 'bold'),
    ...joined(keys.filter(({ changes }) => changes !== true)).map(bindingLine),
    EMPTY,
    plain('Keys that change something, after asking', 'bold'),
    ...keys.filter(({ changes }) => changes === true).map(bindingLine),
  ];
  if (lines.length <= rows || columns < 2 * COLUMN_COLUMNS) return lines;
  const half = Math.ceil(lines.length / 2);
  return (
    <Box columnGap={2}>
      <Box width={COLUMN_COLUMNS} flexShrink={0}>
        <Rows lines={lines.slice(0, half)} />
      </Box>
      <Rows lines={lines.slice(half)} />
    </Box>
  );
}

/** Keys with the same effect share a line. */
function joined(bindings: readonly Binding[]): readonly Binding[] {
  const byLabel = new Map<string, Binding>();
  for (const one of bindings) {
    const same = byLabel.get(one.label);
    byLabel.set(one.label, same === undefined ? one : { ...same, shown: `${same.shown}, ${one.shown}` });
  }
  return [...byLabel.values()];
}

function bindingLine({ shown, label, views, changes }: Binding): Line {
  const where = views === undefined || changes !== true ? '' : `  in ${views.join(', ')}`;
  return [
    span(`${shown}${' '.repeat(Math.max(1, KEY_COLUMNS - widthOf(shown)))}`, 'accent'),
    span(label),
    span(where, 'dim'),
  ];
}

/** As many keys as fit. Those that change something are grey while they are refused. */
function helpLine(state: State, columns: number): Line {
  const isRefused = refusalOf(state) !== null;
  let line: Line = [];
  for (const { shown, label, changes } of bindingsOf(state).filter(({ inLine }) => inLine?.(state))) {
    const grey = changes === true && isRefused;
    const part: Line = [
      ...(line.length === 0 ? [] : [span('  ')]),
      span(shown, grey ? 'dim' : 'accent'),
      span(` ${label}`, grey ? 'dim' : undefined),
    ];
    if (lineWidth(line) + lineWidth(part) > columns) break;
    line = [...line, ...part];
  }
  return line;
}
