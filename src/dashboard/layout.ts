// What a screen is made of: lines of spans, each a text in one tone. The room of a view, how its parts share it, and the
// parts that several views have: tables, named facts, and the line for missing data. Views make lines, frames.tsx renders
// them.
import { fitted, lineWidth, padded, plainText, type Toned, wordWrap } from '../cli/output/line.ts';
import type { Colour } from '../cli/output/style.ts';
import { type Column, type ColumnRules, columnRules, layTable } from '../cli/output/table.ts';
import { widthOf } from '../cli/output/width.ts';

/** Colours show these. None of them is the only sign of anything. */
export type Tone = Colour | 'accent' | 'picked';
export type Span = Toned<Tone>;
export type Line = readonly Span[];

export const EMPTY: Line = [];

export function span(text: string | number, tone?: Tone): Span {
  return { text: String(text), tone };
}

export function plain(text: string, tone?: Tone): Line {
  return [span(text, tone)];
}

/** Left and right part on one line. Where both do not fit, the left one is cut. */
export function spread(left: Line, right: Line, columns: number): Line {
  const shown = fitted(right, columns);
  const room = columns - lineWidth(shown) - 1;
  return room < 1 ? shown : [...padded(left, room, 'left'), span(' '), ...shown];
}

/** Columns between two blocks. */
export const GAP = 2;

/** Two blocks of lines next to each other. */
export function sideBySide(left: readonly Line[], right: readonly Line[], leftColumns: number): Line[] {
  const height = Math.max(left.length, right.length);
  return Array.from({ length: height }, (_, i) => [
    ...padded(left[i] ?? EMPTY, leftColumns + GAP, 'left'),
    ...(right[i] ?? EMPTY),
  ]);
}

/** A long text over several lines, broken between words. */
export function wrapped(text: string, columns: number, tone?: Tone): Line[] {
  const sentence = plainText(text).replace(/ +/g, ' ');
  return wordWrap(sentence, columns).map((line) => plain(line, tone));
}

export interface Room {
  readonly columns: number;
  readonly rows: number;
}

/** Stacks parts, with blank lines between them as far as there is room. Lines that do not fit are left out. */
export function stacked(parts: readonly (readonly Line[])[], rows: number): Line[] {
  const filled = parts.filter((part) => part.length > 0);
  let spare = rows - filled.reduce((sum, part) => sum + part.length, 0);
  const stack: Line[] = [];
  for (const [i, part] of filled.entries()) {
    if (i > 0 && spare > 0) {
      stack.push(EMPTY);
      spare -= 1;
    }
    stack.push(...part);
  }
  return stack.slice(0, Math.max(0, rows));
}

const LABEL_COLUMNS = 11;

/** A named fact: `capacity   demand 12/s ...`. */
export function fact(name: string, ...value: readonly Span[]): Line {
  return [span(`${name}${' '.repeat(Math.max(1, LABEL_COLUMNS - widthOf(name)))}`, 'dim'), ...value];
}

/** Shown instead of missing data: why it is missing, or that it has been asked for. */
export function missing(what: string, problem: string | null): Line {
  return problem === null ? [span(`${what}: asking ...`, 'dim')] : [span(`${what}: ${problem}`, 'red')];
}

export interface SpanColumn<Row> extends ColumnRules {
  readonly header: string;
  readonly cell: (row: Row) => Span | Line;
}

/** The columns of a table that a command prints too, for a table with these rows. */
export function columnsOf<Row>(
  columns: readonly Column<Row>[],
  [first]: readonly Row[],
): readonly SpanColumn<Row>[] {
  const cells = first === undefined ? [] : [columns.map(({ cell }) => cell(first))];
  const rules = columnRules(columns, cells);
  return columns.map(({ header, cell }, at) => ({ header, cell, ...rules[at] }));
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
  const table = layTable(columns, [header, ...cells], room - MARK.length);
  const at = selected === null ? -1 : selected - first + 1;
  return table.lines.map((line, i) => [i === at ? span(MARK, 'picked') : span('  '), ...line]);
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
