// The verdict: a band over the whole width with one sentence, since when, and the helpful command. Below it the overview shows
// further reasons, as far as there is room; a separate view lists all of them.
import { Box } from 'ink';
import type { Health } from '../../domain/health.ts';
import type { HealthReasonBody } from '../../resources/health.ts';
import { calmWords } from '../../terminal/fleet-lines.ts';
import { lineWidth } from '../../terminal/line.ts';
import { healthSigned } from '../../terminal/style.ts';
import { widthOf } from '../../terminal/width.ts';
import { seconds, since as sinceWords } from '../format.ts';
import {
  clamped,
  hint,
  type Line,
  MARK,
  marked,
  missing,
  plain,
  type Room,
  span,
  unbroken,
} from '../layout.ts';
import { narrowedLine, rowsOf } from '../lists.ts';
import type { Part, ViewProps } from '../part.tsx';
import { ageMsOf, dataTimeMs, isStale, type State } from '../state.ts';
import { Row } from '../ui.tsx';

const INDENT = 2;
const ALL = Number.POSITIVE_INFINITY;

/** It queries the daemon too, and explains how to start it. */
const DOCTOR = 'cardpoll doctor';

/** The text and the colour of the band. */
interface Verdict {
  readonly tone: Health | 'stale';
  readonly label: string;
  readonly text: string;
  readonly command: string | null;
}

const BANDS: Record<Verdict['tone'], { readonly background: string; readonly isLight: boolean }> = {
  normal: { background: 'green', isLight: false },
  warning: { background: 'yellow', isLight: false },
  alert: { background: 'red', isLight: true },
  stale: { background: 'magenta', isLight: true },
};

/** The verdict on the fleet, or on the task type in its view; null before the first answer. */
export function verdictOf(state: State): Verdict | null {
  const { body, problem } = state.data.overview;
  const age = seconds(Math.floor((ageMsOf(state) ?? 0) / 1000));
  if (isStale(state) || (body === null && state.nextTryAtMs !== null)) {
    const label = problem === null ? '✖ STALE' : '✖ DISCONNECTED';
    const data = body === null ? 'no data yet' : `data ${age} old`;
    const why = problem === null ? '' : `: ${problem}`;
    const command = problem === null ? null : DOCTOR;
    return { tone: 'stale', label, text: `${data}${nextTry(state)}${why}`, command };
  }
  if (body === null) return null;
  const task =
    state.view === 'task' ? body.tasks.find(({ task_type }) => task_type === state.taskType) : undefined;
  const { health, health_reasons: reasons } = task ?? body;
  const [worst] = reasons;
  const label = healthSigned(health).text;
  if (worst === undefined) {
    // Its own figures are normal, and yet it is not polled.
    const heldBy = task?.offered ? task.capacity.held_by : null;
    if (heldBy !== null) {
      const command = body.health_reasons[0]?.command ?? null;
      return { tone: 'warning', label: healthSigned('warning', 'held').text, text: heldBy, command };
    }
    const text = calmWords(task?.scheduled_cards ?? body.cards_total, body);
    return { tone: health, label, text, command: null };
  }
  return { tone: health, label, ...saidFor(worst, dataTimeMs(state)) };
}

/** The daemon's text about a change that led to the reason. */
const UNDO = /; back: (cardpoll audit undo \d+)$/;

/** The sentence, and since when it has been true. The undo of a change is the helpful command, and is never cut. */
function saidFor({ text, since, command }: HealthReasonBody, nowMs: number) {
  const undo = UNDO.exec(text)?.[1] ?? null;
  const words = text.replace(UNDO, '');
  return {
    text: since ? `${words} ${unbroken(`(for ${sinceWords(since, nowMs)})`)}` : words,
    command: undo ?? command,
  };
}

function nextTry({ nextTryAtMs, nowMs }: State): string {
  if (nextTryAtMs === null) return '';
  const left = Math.max(0, Math.ceil((nextTryAtMs - nowMs) / 1000));
  return left === 0 ? ', asking ...' : `, next try in ${left}s`;
}

/** At most this many lines of the band. The sentence is cut if it leaves no row for the command. */
export function bandLines({ label, text, command }: Verdict, { columns, rows }: Room): Line[] {
  const indent = widthOf(label) + INDENT;
  const width = columns - indent - INDENT;
  const blank = span(' '.repeat(indent));
  const typed = command === null ? null : [span('-> $ '), span(command, 'bold')];
  // A cut command cannot be typed, so a long one begins further left.
  const before = typed !== null && lineWidth(typed) > width ? [] : [blank];
  const said = clamped(text, width, typed === null || rows === 1 ? rows : rows - 1);
  const lines = said.map(
    (line, i): Line => [i === 0 ? span(`${label}${' '.repeat(INDENT)}`, 'bold') : blank, span(line)],
  );
  const [only] = lines;
  if (typed === null || only === undefined) return lines;
  if (lines.length === 1 && lineWidth(only) + INDENT + lineWidth(typed) <= columns - INDENT)
    return [[...only, span('  '), ...typed]];
  return rows === 1 ? lines : [...lines, [...before, ...typed]];
}

/** @param isTall has a coloured row above and below, to be visible from a distance. */
export function Band({ tone, lines, isTall }: Pick<Verdict, 'tone'> & BandProps) {
  const { background, isLight } = BANDS[tone];
  return (
    <Box
      backgroundColor={background}
      flexDirection="column"
      flexShrink={0}
      paddingX={1}
      paddingY={isTall ? 1 : 0}
    >
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place in the band
        <Row key={i} line={line} ink={isLight ? 'whiteBright' : 'black'} />
      ))}
    </Box>
  );
}

interface BandProps {
  readonly lines: readonly Line[];
  readonly isTall: boolean;
}

type Space = Room & { readonly nowMs: number };

/** The reasons after the worst, as far as there is room. */
export function furtherReasons(reasons: readonly HealthReasonBody[], space: Space): Line[] {
  const lines: Line[] = [];
  for (const [i, reason] of reasons.entries()) {
    if (i === 0) continue;
    const own = reasonLines(reason, space);
    const isLast = i === reasons.length - 1;
    if (lines.length + own.length + (isLast ? 0 : 1) > space.rows) {
      if (space.rows === 0) return [];
      // The part that fits, without its command, is more useful than a count of hidden reasons.
      const part = own.slice(0, space.rows - lines.length - 1);
      const more = reasons.length - i - (part.length === 0 ? 0 : 1);
      const counted = more === 0 ? 'all of it: key 8' : `${more} more: key 8`;
      return [...lines, ...part, plain(counted, 'dim')].slice(0, space.rows);
    }
    lines.push(...own);
  }
  return lines;
}

/** The view of all reasons, the worst first. The ones around the marked reason are shown. */
export function healthView({ state, columns, rows }: ViewProps): Part[] {
  const { body, problem } = state.data.overview;
  if (body === null) return [[missing('health', problem)]];
  const { health, health_reasons: reasons } = body;
  if (reasons.length === 0) return [[[healthSigned(health), span(`  ${calmWords(body.cards_total, body)}`)]]];
  const room = { columns: columns - MARK.length, rows: rows - 1, nowMs: dataTimeMs(state) };
  const shown = rowsOf(state, 'health');
  const parts = shown.map((reason, i) => marked(reasonLines(reason, room), i === state.picked));
  let first = 0;
  while (first < state.picked && parts.slice(first, state.picked + 1).flat().length > room.rows) first += 1;
  const words = reasons.length === 1 ? '1 reason' : `${reasons.length} reasons, the worst first`;
  const title = [healthSigned(health), span(`  ${words}`, 'dim'), ...narrowedLine(state)];
  return [[title, ...parts.slice(first).flat()]];
}

/** The sentence and the command, on one line if both fit. */
export function reasonLines(reason: HealthReasonBody, { columns, nowMs }: Space): Line[] {
  const { text, severity } = reason;
  // Consequences of the previous cause are grey, and the cause's command helps. An older daemon does not send the relation.
  if (reason.caused_by) return clamped(text, columns - INDENT, ALL).map((line) => plain(`  ${line}`, 'dim'));
  const { text: symbol, tone } = healthSigned(severity, '');
  const { text: words, command } = saidFor(reason, nowMs);
  const said = clamped(`${symbol} ${words}`, columns, ALL).map((line) => plain(line, tone));
  if (command === null) return said;
  const typed = hint(command);
  const [only] = said;
  if (said.length === 1 && only !== undefined && lineWidth(only) + INDENT + lineWidth(typed) <= columns)
    return [[...only, span('  '), ...typed]];
  return [...said, [span('  '), ...typed]];
}
