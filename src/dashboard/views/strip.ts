// The strip of the last hour: a line with a mark for every event, and below it the axis, or the picked event.
import { lineWidth } from '../../terminal/line.ts';
import { counted, seconds } from '../format.ts';
import {
  type Happening,
  type HappeningKind,
  HOUR_MS,
  KINDS,
  MARK_COLUMNS,
  marksOf,
  pickedHappening,
  unknownParts,
} from '../hour.ts';
import { fact, type Line, MARK, span, type Tone } from '../layout.ts';
import { dataTimeMs, type State } from '../state.ts';

/** Including the blank line above. */
export const STRIP_ROWS = 3;

const LOOKS: Record<HappeningKind, { readonly symbol: string; readonly tone: Tone }> = {
  outage: { symbol: '▼', tone: 'second' },
  alert: { symbol: '✖', tone: 'red' },
  start: { symbol: '↑', tone: 'third' },
  stop: { symbol: '■', tone: 'yellow' },
  change: { symbol: '◆', tone: 'accent' },
};
const NOTHING = '─'.repeat(MARK_COLUMNS);
const MOST_DIGITS = 9;

export function stripLines(state: State): Line[] {
  const marks = marksOf(state);
  const happened = marks.filter(({ length }) => length > 0);
  const picked = pickedHappening(state, happened);
  const line = marks.flatMap((all) => markSpans(all, all === picked?.mark));
  const below = picked === null ? axis(marks.length, happened, state) : pickedLine(picked, state);
  return [fact('last hour', ...line), below];
}

/** The symbol of the worst event, and their number: a digit, or `+`. */
function markSpans(all: readonly Happening[], isPicked: boolean): Line {
  const [worst] = all;
  if (worst === undefined) return [span(NOTHING, 'dim')];
  const { symbol, tone } = LOOKS[worst.kind];
  if (isPicked) return [span(MARK.trim(), 'picked'), span(symbol, 'tab')];
  if (all.length === 1) return [span(symbol, tone), span('─', 'dim')];
  return [span(`${symbol}${all.length > MOST_DIGITS ? '+' : all.length}`, tone)];
}

/** The time of the event, the number of others in its mark, and its text. */
function pickedLine({ one, mark, nth }: NonNullable<ReturnType<typeof pickedHappening>>, state: State): Line {
  const { symbol, tone } = LOOKS[one.kind];
  const at = new Date(one.atMs);
  const ago = seconds(Math.max(0, Math.round((dataTimeMs(state) - one.atMs) / 1000)));
  const others = mark.length === 1 ? '' : `  ↑↓ ${nth + 1} of ${mark.length}`;
  return [
    ...fact(at.toLocaleTimeString('en-GB'), span(`${symbol} ${one.kind} `, tone)),
    span(`${one.text()}, ${ago} ago`),
    span(others, 'dim'),
  ];
}

/** Both ends of the axis, and between them the kinds of events, and the unknown parts. */
function axis(slots: number, happened: readonly (readonly Happening[])[], state: State): Line {
  const all = happened.flat();
  const counts = KINDS.flatMap((kind): Line[] => {
    const number = all.filter((one) => one.kind === kind).length;
    const { symbol, tone } = LOOKS[kind];
    return number === 0 ? [] : [[span(`${symbol} `, tone), span(counted(number, kind))]];
  });
  const unknown = unknownParts(state).map((part): Line => [part]);
  const parts = [...counts, ...unknown];
  const between = parts.length === 0 ? [[span('nothing happened', 'dim')]] : parts;
  const middle = between.flatMap((part, i) => (i === 0 ? part : [span('  '), ...part]));
  const [from, to] = [`${HOUR_MS / 60_000} min ago`, 'now'];
  const spare = slots * MARK_COLUMNS - from.length - to.length - lineWidth(middle);
  const gap = Math.max(2, Math.floor(spare / 2));
  return [
    ...fact('', span(`${from}${' '.repeat(gap)}`, 'dim')),
    ...middle,
    span(spare < 2 * 2 ? '' : `${' '.repeat(spare - gap)}${to}`, 'dim'),
  ];
}
