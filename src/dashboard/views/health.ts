// Whether all is well, why not, and what to type: the first thing on the screen. Used by the overview and the view of a
// task type.
import type { HealthReasonBody, OverviewBody } from '../../api/client.ts';
import { healthSpan, healthTone } from '../format.ts';
import { type Line, lineWidth, span, widthOf, wrapped } from '../line.ts';

const INDENT = 2;

/** @param calm what to say where nothing is wrong. @param rows at least 2. */
export function healthLines(
  { health, health_reasons: reasons }: Pick<OverviewBody, 'health' | 'health_reasons'>,
  { columns, rows, calm }: { readonly columns: number; readonly rows: number; readonly calm: string },
): Line[] {
  const label = healthSpan(health);
  const [first] = reasons;
  if (first === undefined) return [[label, span(`  ${calm}`)]];
  const indent = widthOf(label.text) + INDENT;
  const shown = fittingReasons(reasons, columns - indent, rows);
  const lines = shown.flatMap((reason) => reasonLines(reason, columns - indent));
  const left = reasons.length - shown.length;
  const blank = span(' '.repeat(indent));
  return lines.map((line, i) => {
    const more = left > 0 && i === lines.length - 1 ? [span(`  (${left} more)`, 'dim')] : [];
    return [...(i === 0 ? [label, span(' '.repeat(INDENT))] : [blank]), ...line, ...more];
  });
}

/** At least one. */
function fittingReasons(reasons: readonly HealthReasonBody[], columns: number, rows: number) {
  let used = 0;
  const fits = reasons.filter((reason) => {
    used += reasonLines(reason, columns).length;
    return used <= rows;
  });
  return fits.length === 0 ? reasons.slice(0, 1) : fits;
}

/** The sentence and, where there is one, the command: on one line where both fit. */
function reasonLines({ text, command, severity }: HealthReasonBody, columns: number): Line[] {
  const said = wrapped(text, columns, healthTone(severity));
  if (command === null) return said;
  const typed: Line = [span('-> ', 'dim'), span(command, 'accent')];
  const [only] = said;
  if (said.length === 1 && only !== undefined && lineWidth(only) + 2 + lineWidth(typed) <= columns)
    return [[...only, span('  '), ...typed]];
  return [...said, typed];
}
