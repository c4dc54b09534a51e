// The room of a view, how its parts share it, and the parts that several views have: tables, named facts, and the line for
// missing data.
import { type ColumnRules, layTable } from '../../cli/output/table.ts';
import { widthOf } from '../../cli/output/width.ts';
import { EMPTY, type Line, type Span, span } from '../line.ts';

export interface Room {
  readonly columns: number;
  readonly rows: number;
}

/** Stacks parts, with blank lines between them as far as there is room. Lines that do not fit are left out. */
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

/** The rows that parts take, with a blank line between each two. */
export function stackedRows(parts: readonly (readonly Line[])[]): number {
  const filled = parts.filter((part) => part.length > 0);
  return filled.reduce((sum, part) => sum + part.length, 0) + Math.max(0, filled.length - 1);
}

const LABEL_COLUMNS = 11;

/** A named fact: `capacity   demand 12/s ...`. */
export function fact(name: string, ...value: readonly Span[]): Line {
  return [span(`${name}${' '.repeat(Math.max(1, LABEL_COLUMNS - widthOf(name)))}`, 'dim'), ...value];
}

/** Shown instead of missing data: why it is missing, or that it has been asked for. */
export function missing(what: string, problem: string | null): Line {
  return problem === null ? [span(`${what}: asking ...`, 'dim')] : [span(`${what}: ${problem}`, 'bad')];
}

export interface SpanColumn<Row> extends ColumnRules {
  readonly header: string;
  readonly cell: (row: Row) => Span | Line;
}

interface TableOptions extends Room {
  /** Index of the row that keys act on; null where there is none. The rows around it are shown. */
  readonly selected: number | null;
}

export const MARK = '▸ ';

/** Header and rows, in at most `rows` lines. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly SpanColumn<Row>[],
  { columns: room, rows: height, selected }: TableOptions,
): Line[] {
  const { first, visible } = windowOf(rows, height - 1, selected);
  const header = columns.map(({ header: text }) => [span(text, 'dim')]);
  const cells = visible.map((row) => columns.map(({ cell }) => [cell(row)].flat()));
  const { lines } = layTable(columns, [header, ...cells], { columns: room - MARK.length, widthOf });
  const at = selected === null ? -1 : selected - first + 1;
  return lines.map((line, i) => [i === at ? span(MARK, 'picked') : span('  '), ...line]);
}

/** A command that helps. */
export function hint(command: string): Line {
  return [span('-> ', 'dim'), span(command, 'accent')];
}

function windowOf<Row>(rows: readonly Row[], height: number, selected: number | null) {
  const fits = Math.max(0, height);
  const last = Math.max(0, rows.length - fits);
  const first = Math.min(last, Math.max(0, (selected ?? 0) - Math.floor(fits / 2)));
  return { first, visible: rows.slice(first, first + fits) };
}
