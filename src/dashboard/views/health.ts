// Health with its reasons and the commands that help, at the top of the screen. Used by the overview and the view of a task
// type.
import type { HealthReasonBody, OverviewBody } from '../../api/client/client-bodies.ts';
import { widthOf } from '../../cli/output/width.ts';
import { cards, healthSpan, healthTone, since as sinceWords } from '../format.ts';
import { fitted, type Line, lineWidth, span, wrapped } from '../line.ts';
import type { Room } from './layout.ts';

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
    const more = left > 0 && i === lines.length - 1 ? [span(`  (${left} more)`, 'dim')] : [];
    return [...(i === 0 ? [label, span(' '.repeat(INDENT))] : [blank]), ...line, ...more];
  });
}

/** Where nothing is wrong. Cards that are not loaded yet are not polled. */
export function calmWords(count: number, { init }: Pick<OverviewBody, 'init'>): string {
  const state =
    init.status === 'completed' ? 'everything as configured' : 'still being loaded: cardpoll init';
  return `${cards(count)}, ${state}`;
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
  const { text, command, severity, since } = reason;
  const held = since ? ` (for ${sinceWords(since, nowMs)})` : '';
  const said = wrapped(`${text}${held}`, columns, healthTone(severity));
  if (command === null) return said.slice(0, rows);
  const typed: Line = [span('-> ', 'dim'), span(command, 'accent')];
  const [only] = said;
  if (said.length === 1 && only !== undefined && lineWidth(only) + 2 + lineWidth(typed) <= columns)
    return [[...only, span('  '), ...typed]];
  const textRows = Math.max(1, rows - 1);
  const cut =
    said.length <= textRows ? said : [...said.slice(0, textRows - 1), said.slice(textRows - 1).flat()];
  return [...cut.map((line) => fitted(line, columns)), typed];
}
