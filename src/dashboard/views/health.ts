// Health with its reasons and the commands that help: at the top of the overview and of the view of a task type as far as there
// is room, and all of them in a view of their own.
import type { HealthReasonBody, OverviewBody } from '../../api/client/client-bodies.ts';
import { fitted, lineWidth } from '../../cli/output/line.ts';
import { COLOURS, cardCount } from '../../cli/output/style.ts';
import { widthOf } from '../../cli/output/width.ts';
import { healthSpan, since as sinceWords } from '../format.ts';
import { EMPTY, hint, type Line, MARK, missing, type Room, span, wrapped } from '../layout.ts';
import { dataTimeMs, type State } from '../state.ts';

const INDENT = 2;

/** The room for it, and when the daemon made the data, in milliseconds since 1970. */
type Space = Room & { readonly nowMs: number };

/** @param calm is shown where nothing is wrong. @param rows at least 2. */
export function healthLines(
  { health, health_reasons: reasons }: Pick<OverviewBody, 'health' | 'health_reasons'>,
  { columns, rows, nowMs, calm }: Space & { readonly calm: string },
): Line[] {
  const label = healthSpan(health);
  const [first] = reasons;
  if (first === undefined) return [[label, span(`  ${calm}`)]];
  const indent = widthOf(label.text) + INDENT;
  const room = { columns: columns - indent, rows, nowMs };
  const shown = fittingReasons(reasons, room);
  const lines = shown.flatMap((reason) => reasonLines(reason, room));
  const left = reasons.length - shown.length;
  const blank = span(' '.repeat(indent));
  return lines.map((line, i) => {
    const more = left > 0 && i === lines.length - 1 ? [span(`  (${left} more: key 8)`, 'dim')] : [];
    return [...(i === 0 ? [label, span(' '.repeat(INDENT))] : [blank]), ...line, ...more];
  });
}

/** The view of all reasons, the worst first. Those around the marked one are shown. */
export function healthViewLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.overview;
  if (body === null) return [missing('health', problem)];
  const { health, health_reasons: reasons } = body;
  if (reasons.length === 0) return [[healthSpan(health), span(`  ${calmWords(body.cards_total, body)}`)]];
  const room = { columns: columns - MARK.length, rows: rows - 2, nowMs: dataTimeMs(state) };
  const parts = reasons.map((reason, i) =>
    reasonLines(reason, room).map((line, at) => [
      i === state.picked && at === 0 ? span(MARK, 'picked') : span(' '.repeat(MARK.length)),
      ...line,
    ]),
  );
  let first = 0;
  while (first < state.picked && parts.slice(first, state.picked + 1).flat().length > room.rows) first += 1;
  const words = reasons.length === 1 ? '1 reason' : `${reasons.length} reasons, the worst first`;
  return [
    [healthSpan(health), span(`  ${words}`, 'dim')],
    EMPTY,
    ...parts.slice(first).flat().slice(0, room.rows),
  ];
}

/** Where nothing is wrong. Cards that are not loaded yet are not polled. */
export function calmWords(count: number, { init }: Pick<OverviewBody, 'init'>): string {
  const state =
    init.status === 'completed' ? 'everything as configured' : 'still being loaded: cardpoll init';
  return `${cardCount(count)}, ${state}`;
}

/** As many reasons as the rows have room for, and at least one. */
function fittingReasons(reasons: readonly HealthReasonBody[], room: Space): readonly HealthReasonBody[] {
  let used = 0;
  const fits = reasons.filter((reason) => {
    used += reasonLines(reason, room).length;
    return used <= room.rows;
  });
  return fits.length === 0 ? reasons.slice(0, 1) : fits;
}

/** The sentence and the command, on one line where both fit. The sentence is cut where it leaves no row for the command. */
function reasonLines(reason: HealthReasonBody, { columns, rows, nowMs }: Space): Line[] {
  const { text, severity, since } = reason;
  // What follows from the cause before it is grey, and the command of the cause helps. An older daemon does not send it.
  const follows = Boolean(reason.caused_by);
  const command = follows ? null : reason.command;
  const held = since ? ` (for ${sinceWords(since, nowMs)})` : '';
  const said = follows
    ? wrapped(text, columns - INDENT, 'dim').map((line) => [span(' '.repeat(INDENT)), ...line])
    : wrapped(`${text}${held}`, columns, COLOURS[severity]);
  if (command === null) return said.slice(0, rows);
  const typed = hint(command);
  const [only] = said;
  if (said.length === 1 && only !== undefined && lineWidth(only) + 2 + lineWidth(typed) <= columns)
    return [[...only, span('  '), ...typed]];
  const textRows = Math.max(1, rows - 1);
  const cut =
    said.length <= textRows ? said : [...said.slice(0, textRows - 1), joined(said.slice(textRows - 1))];
  return [...cut.map((line) => fitted(line, columns)), typed];
}

/** Lines that were broken between words, as one. */
function joined(lines: readonly Line[]): Line {
  return lines.flatMap((line, i) => (i === 0 ? line : [span(' '), ...line]));
}
