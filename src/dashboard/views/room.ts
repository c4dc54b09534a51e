// The space a view may fill, and how its parts share it. Used by all views.
import { EMPTY, type Line, type Span, span, widthOf } from '../line.ts';

export interface Room {
  readonly columns: number;
  readonly rows: number;
}

/** Parts under each other, apart by blank lines as far as there is room for them; what does not fit is left out. */
export function stacked(parts: readonly (readonly Line[])[], rows: number): Line[] {
  const filled = parts.filter((part) => part.length > 0);
  let spare = rows - filled.reduce((sum, part) => sum + part.length, 0);
  const lines: Line[] = [];
  for (const [i, part] of filled.entries()) {
    if (i > 0 && spare > 0) {
      lines.push(EMPTY);
      spare -= 1;
    }
    lines.push(...part);
  }
  return lines.slice(0, Math.max(0, rows));
}

/** Rows the parts take with a blank line between each two. */
export function stackedRows(parts: readonly (readonly Line[])[]): number {
  const filled = parts.filter((part) => part.length > 0);
  return filled.reduce((sum, part) => sum + part.length, 0) + Math.max(0, filled.length - 1);
}

const LABEL_COLUMNS = 11;

/** A named fact: `capacity   demand 12/s ...`. */
export function fact(name: string, ...value: readonly Span[]): Line {
  return [span(`${name}${' '.repeat(Math.max(1, LABEL_COLUMNS - widthOf(name)))}`, 'dim'), ...value];
}

/** Said where data is missing: why, or that it is on its way. */
export function missing(what: string, problem: string | null): Line {
  return problem === null ? [span(`${what}: asking ...`, 'dim')] : [span(`${what}: ${problem}`, 'bad')];
}
