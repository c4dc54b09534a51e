// The whole screen: a header with the fleet and the age of its data, the open view or the help page, and at the bottom
// questions, results and keys. Both lists of keys are made from the keymap.
import { fitted, lineWidth } from '../../cli/output/line.ts';
import { widthOf } from '../../cli/output/width.ts';
import { seconds } from '../format.ts';
import { type Binding, bindingsOf, KEYMAP, refusalOf } from '../keymap.ts';
import {
  EMPTY,
  type Line,
  plain,
  type Room,
  type Span,
  sideBySide,
  span,
  spread,
  wrapped,
} from '../layout.ts';
import { ageMsOf, dataTimeMs, isStale, type State, type View } from '../state.ts';
import { cardLines } from './card.ts';
import { healthViewLines } from './health.ts';
import { alertsLines, configsLines, instancesLines, triggersLines } from './lists.ts';
import { overviewLines } from './overview.ts';
import { stopsLines } from './stops.ts';
import { taskLines } from './task.ts';

const SMALLEST = { columns: 60, rows: 15 } as const;
/** The title of a plan gets so many rows, to leave room for its effects. */
const MOST_TITLE_ROWS = 2;

const BODIES: Record<View, (state: State, room: Room) => Line[]> = {
  overview: overviewLines,
  task: taskLines,
  alerts: alertsLines,
  triggers: triggersLines,
  instances: instancesLines,
  configs: configsLines,
  stops: stopsLines,
  health: healthViewLines,
  card: cardLines,
};

/** One line less than the terminal has, so that writing the last one never scrolls, and none wider than the terminal. */
export function frameLines(state: State): Line[] {
  const { columns } = state;
  const rows = Math.max(1, state.rows - 1);
  if (columns < SMALLEST.columns || state.rows < SMALLEST.rows) return tooSmall(state, rows);
  const bottom = [...dialogLines(state), helpLine(state)];
  const body = bodyLines(state, { columns, rows: rows - 1 - bottom.length });
  return [headerLine(state, freshness(state)), ...body, ...bottom].map((line) => fitted(line, columns));
}

/** The view as text to keep: without keys, and without empty lines at the end. */
export function stillLines(state: State): Line[] {
  const { columns, rows } = state;
  const body = trimmed(BODIES[state.view](state, { columns, rows: rows - 1 }));
  // Kept text has the time of its data instead of an age.
  const moment = plain(new Date(dataTimeMs(state)).toISOString().replace(/\.\d+/, ''));
  return [headerLine(state, moment), ...body].map((line) => fitted(line, columns));
}

function tooSmall({ columns, rows }: State, height: number): Line[] {
  const text = `need ${SMALLEST.columns}x${SMALLEST.rows}, this is ${columns}x${rows}`;
  return Array.from({ length: height }, (_, i) => fitted(i === 0 ? plain(text) : EMPTY, columns));
}

function headerLine(state: State, right: Line): Line {
  const version = state.data.overview.body?.version;
  const about = `  ${state.view === 'task' ? state.taskType : state.view}`;
  const left: Line = [
    span('cardpoll', 'bold'),
    span(about),
    span(`  ${state.daemon}${version === undefined ? '' : `  ${version}`}`, 'dim'),
  ];
  return spread(left, right, state.columns);
}

function freshness(state: State): Line {
  const ageMs = ageMsOf(state);
  const age = ageMs === null ? '' : seconds(Math.floor(ageMs / 1000));
  if (isStale(state)) return [span(`✖ STALE, ${age} old`, 'red'), ...nextTry(state)];
  if (ageMs !== null) return [span('● live', 'green'), span(`, ${age} old`)];
  return state.nextTryAtMs === null
    ? plain('asking ...', 'dim')
    : [span('✖ no answer', 'red'), ...nextTry(state)];
}

function nextTry({ nextTryAtMs, nowMs }: State): Line {
  if (nextTryAtMs === null) return [];
  const left = Math.max(0, Math.ceil((nextTryAtMs - nowMs) / 1000));
  return [span(left === 0 ? ', asking ...' : `, next try in ${left}s`)];
}

function bodyLines(state: State, room: Room): Line[] {
  const problem = state.data.overview.problem;
  const stale = isStale(state) && problem !== null ? wrapped(problem, room.columns, 'red').slice(0, 2) : [];
  const inner = { columns: room.columns, rows: room.rows - stale.length };
  const shown = state.help ? helpLines(inner) : BODIES[state.view](state, inner);
  const lines = [...stale, ...(isStale(state) && !state.help ? shown.map(faded) : shown)];
  return Array.from({ length: room.rows }, (_, i) => lines[i] ?? EMPTY);
}

/** Stale data is dim all over. */
function faded(line: Line): Line {
  return line.map(({ text }): Span => ({ text, tone: 'dim' }));
}

function dialogLines(state: State): Line[] {
  const { confirm, prompt, notice, columns } = state;
  if (confirm !== null) {
    const { title, effects, command } = confirm;
    const consequences = effects.flatMap((text) => wrapped(text, columns));
    return [
      plain('─'.repeat(columns), 'dim'),
      ...atMost(wrapped(title, columns, 'bold'), MOST_TITLE_ROWS),
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

/** The end of what is typed: a long text stays visible where the next character goes. */
function endOf(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const characters = [...text];
  while (characters.length > 0 && widthOf(`…${characters.join('')}`) > columns) characters.shift();
  return `…${characters.join('')}`;
}

/** Where there are more lines than rows, the last row counts those that are left out. */
function atMost(lines: readonly Line[], rows: number): readonly Line[] {
  if (lines.length <= rows) return lines;
  const left = lines.length - rows + 1;
  return [...lines.slice(0, rows - 1), plain(`... and ${left} more ${left === 1 ? 'line' : 'lines'}`, 'dim')];
}

function trimmed(lines: readonly Line[]): Line[] {
  const last = lines.findLastIndex((line) => line.some(({ text }) => text.trim() !== ''));
  return lines.slice(0, last + 1);
}

const KEY_COLUMNS = 11;
const COLUMN_COLUMNS = 36;

/** All keys. Those that change something have a heading of their own. */
function helpLines({ columns, rows }: Room): Line[] {
  const keys = KEYMAP.filter(({ mode = 'anywhere' }) => mode === 'anywhere');
  const lines = [
    plain('Keys', 'bold'),
    ...joined(keys.filter(({ changes }) => changes !== true)).map(bindingLine),
    EMPTY,
    plain('Keys that change something, after asking', 'bold'),
    ...keys.filter(({ changes }) => changes === true).map(bindingLine),
  ];
  if (lines.length <= rows || columns < 2 * COLUMN_COLUMNS) return lines.slice(0, rows);
  const half = Math.ceil(lines.length / 2);
  return sideBySide(lines.slice(0, half), lines.slice(half), COLUMN_COLUMNS).slice(0, rows);
}

/** Keys with the same meaning share a line. */
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
function helpLine(state: State): Line {
  const isRefused = refusalOf(state) !== null;
  let line: Line = [];
  for (const { shown, label, changes } of bindingsOf(state).filter(({ inLine }) => inLine?.(state))) {
    const grey = changes === true && isRefused;
    const part: Line = [
      ...(line.length === 0 ? [] : [span('  ')]),
      span(shown, grey ? 'dim' : 'accent'),
      span(` ${label}`, grey ? 'dim' : undefined),
    ];
    if (lineWidth(line) + lineWidth(part) > state.columns) break;
    line = [...line, ...part];
  }
  return line;
}
