// Text of the screen: lines of spans, each a text in one tone, and the lines that several views share: tables, named facts,
// missing data. ui.tsx renders lines.

import { plainText } from '../domain/plain-text.ts';
import { countWords } from '../domain/words.ts';
import { type Toned, wordWrap } from '../terminal/line.ts';
import type { Colour } from '../terminal/style.ts';
import { type Column, type ColumnRules, columnRules, layTable } from '../terminal/table.ts';
import { widthOf } from '../terminal/width.ts';
import { gauge } from './charts.ts';

/** Tones are shown as colours. No tone is the only sign of anything. */
export type Tone = Colour | 'accent' | 'second' | 'third' | 'picked' | 'tab';
export type Span = Toned<Tone>;
export type Line = readonly Span[];

export const EMPTY: Line = [];

export function span(text: string | number, tone?: Tone): Span {
  return { text: String(text), tone };
}

export function plain(text: string, tone?: Tone): Line {
  return [span(text, tone)];
}

/** A long text over several lines, broken between words. Row cuts the rest of the last line. */
export function clamped(text: string, columns: number, rows: number): string[] {
  const wrapped = wordWrap(plainText(text).replace(/ +/g, ' ').trim(), columns);
  const lines = wrapped.map((line) => line.replaceAll(UNBROKEN_BLANK, ' '));
  return lines.length <= rows ? lines : [...lines.slice(0, rows - 1), lines.slice(rows - 1).join(' ')];
}

const UNBROKEN_BLANK = '\u00a0';

/** A text that `clamped` keeps on one line. */
export function unbroken(text: string): string {
  return text.replaceAll(' ', UNBROKEN_BLANK);
}

/** If there are more lines than rows, the last row shows the number of hidden ones. */
export function atMost(lines: readonly Line[], rows: number): readonly Line[] {
  if (rows <= 0) return [];
  if (lines.length <= rows) return lines;
  const left = lines.length - rows + 1;
  return [...lines.slice(0, rows - 1), plain(`... and ${countWords(left, 'more line')}`, 'dim')];
}

export interface Room {
  readonly columns: number;
  readonly rows: number;
}

export const LABEL_COLUMNS = 11;

/** A named fact: `capacity   demand 12/s ...`. */
export function fact(name: string, ...value: readonly Span[]): Line {
  return [span(`${name}${' '.repeat(Math.max(1, LABEL_COLUMNS - widthOf(name)))}`, 'dim'), ...value];
}

/** Shown instead of missing data: why it is missing, or that it was requested. */
export function missing(what: string, problem: string | null): Line {
  return problem === null ? [span(`${what}: asking ...`, 'dim')] : [span(`${what}: ${problem}`, 'red')];
}

export interface SpanColumn<Row> extends ColumnRules {
  readonly header: string;
  readonly cell: (row: Row) => Span | Line;
}

/** The columns of a table that a command also prints, for a table with these rows. */
export function columnsOf<Row>(
  columns: readonly Column<Row>[],
  [first]: readonly Row[],
): readonly SpanColumn<Row>[] {
  const cells = first === undefined ? [] : [columns.map(({ cell }) => cell(first))];
  const rules = columnRules(columns, cells);
  return columns.map(({ header, cell }, at) => ({ header, cell, ...rules[at] }));
}

interface TableOptions extends Room {
  /** Index of the row that keys act on; null: none. The rows around it are shown. */
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

/** A gauge whose empty part is a thin grey line, so that it does not attract attention. */
export function gaugeSpans(share: number, columns: number, tone: Tone): Line {
  if (columns <= 0) return EMPTY;
  const bar = gauge(share, columns);
  const filled = bar.lastIndexOf('█') + 1;
  return [span(bar.slice(0, filled), tone), span(bar.slice(filled), 'dim')];
}

/** Lines that keys act on, with a mark before the first one if they are picked. */
export function marked(lines: readonly Line[], isPicked: boolean): Line[] {
  return lines.map((line, i) => [isPicked && i === 0 ? span(MARK, 'picked') : span('  '), ...line]);
}

/** A helpful command to run in a shell. */
export function hint(command: string): Line {
  return [span('-> $ ', 'dim'), span(command, 'accent')];
}

function windowOf<Row>(rows: readonly Row[], height: number, selected: number | null) {
  const fits = Math.max(0, height);
  const last = Math.max(0, rows.length - fits);
  const first = Math.min(last, Math.max(0, (selected ?? 0) - Math.floor(fits / 2)));
  return { first, visible: rows.slice(first, first + fits) };
}
