// Tables: aligned columns under a header, on a terminal as many as fit; as text for commands, as lines that the dashboard paints;
// or one record per line with all values, separated by tabs. None has borders.
import { fitted, lineWidth, padded, type Toned } from './line.ts';
import { type Cell, type Colour, type Style, sentenceLines } from './style.ts';
import { widthOf } from './width.ts';

export interface ColumnRules {
  readonly align?: 'right' | undefined;
  /**
   * With too little room, the column with the lowest number is omitted first; of equal ones the right one. A column without a
   * number stays.
   */
  readonly drop?: number | undefined;
  /** Its values may be cut to this width, in columns of the terminal. Absent: never cut. */
  readonly least?: number | undefined;
}

interface Need {
  readonly width: number;
  readonly least: number;
  readonly drop: number | undefined;
}

const GAP = 2;

/**
 * Lays cells out in aligned columns: omits whole columns until the table fits, and cuts those that may be cut.
 * @param cells by row. The first row is the header, and a column is never narrower than its header.
 * @param columns null: unlimited.
 * @returns a line for each row, cut at its end if the remaining columns have too little room.
 */
export function layTable<Tone>(
  rules: readonly ColumnRules[],
  cells: ReadonlyArray<ReadonlyArray<readonly Toned<Tone>[]>>,
  columns: number | null,
) {
  // Cells are measured in their displayed form: string-width counts a complete control sequence as zero columns.
  const rows = cells.map((row) => row.map((cell) => fitted(cell, Number.POSITIVE_INFINITY)));
  const needs = rules.map(({ least, drop }, at): Need => {
    const [header = 0, ...values] = rows.map((row) => lineWidth(row[at] ?? []));
    const width = Math.max(header, ...values);
    return { width, least: least === undefined ? width : Math.min(width, Math.max(least, header)), drop };
  });
  const widths = columns === null ? needs.map(({ width }) => width) : fittingWidths(needs, columns);
  const lines = rows.map((row): readonly Toned<Tone>[] => {
    const line = row.flatMap((cell, at) => {
      const width = widths[at] ?? 0;
      if (width === 0) return [];
      const gap = at === 0 ? [] : [{ text: ' '.repeat(GAP) }];
      return [...gap, ...padded(cell, width, rules[at]?.align ?? 'left')];
    });
    return columns === null ? line : fitted(line, columns);
  });
  return { lines, isHidden: widths.map((width) => width === 0) };
}

/** @returns the width of each column; 0 for an omitted one. The first always stays. */
function fittingWidths(needs: readonly Need[], columns: number): number[] {
  const widths = needs.map(({ least }) => least);
  widths[0] = Math.min(widths[0] ?? 0, Math.max(1, columns));
  const spare = () => {
    const shown = widths.filter((width) => width > 0);
    return columns - shown.reduce((sum, width) => sum + width, GAP * (shown.length - 1));
  };
  for (const [at] of leftOutFirst(needs)) {
    if (spare() >= 0) break;
    widths[at] = 0;
  }
  return widened(needs, widths, Math.max(0, spare()));
}

function leftOutFirst(needs: readonly Need[]): [at: number, drop: number][] {
  return needs
    .flatMap(({ drop }, at): [number, number][] => (at === 0 || drop === undefined ? [] : [[at, drop]]))
    .sort(([a, dropA], [b, dropB]) => (dropA === dropB ? b - a : dropA - dropB));
}

/** Gives spare room to the cut columns, beginning with the one that is cut least. */
function widened(needs: readonly Need[], widths: readonly number[], spare: number): number[] {
  const wider = [...widths];
  const cut = [...needs.entries()]
    .filter(([at, { width, least }]) => wider[at] !== 0 && least < width)
    .sort(([, a], [, b]) => a.width - a.least - (b.width - b.least));
  let left = spare;
  for (const [position, [at, { width, least }]] of cut.entries()) {
    const extra = Math.min(width - least, Math.floor(left / (cut.length - position)));
    wider[at] = (wider[at] ?? 0) + extra;
    left -= extra;
  }
  return wider;
}

/** Columns without `drop` are omitted last. */
export interface Column<Row> extends Pick<ColumnRules, 'drop' | 'least'> {
  readonly header: string;
  readonly cell: (row: Row) => Cell;
}

/** Texts of a column without `least` may be cut to this. Numbers are not cut, because a cut number is a wrong number. */
const A_WORD = 12;
const LAST = Number.POSITIVE_INFINITY;

export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  style: Style,
  room: number | null = style.layout.columns,
): string {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const header = columns.map(({ header: text }): Cell => ({ text, tone: 'bold' }));
  if (!style.forPeople) return textOf(cells.map((row) => row.map(({ text }) => text).join('\t')));
  const laid = layTable(
    columnRules(columns, cells),
    [header, ...cells].map((row) => row.map((cell) => [cell])),
    room,
  );
  const hidden = columns.filter((_, at) => laid.isHidden[at]).map((column) => column.header);
  return paintedLines(laid.lines, style) + textOf(hiddenNote(hidden, style));
}

/** The text of lines, with their colours. */
export function paintedLines(lines: ReadonlyArray<readonly Toned<Colour>[]>, style: Style): string {
  const painted = lines.map((line) => line.map(({ text, tone }) => style.paint(text, tone)).join(''));
  return textOf(painted.map((line) => line.trimEnd()));
}

/** @param cells one row is enough to detect the columns of numbers. */
export function columnRules<Row>(
  columns: readonly Column<Row>[],
  cells: ReadonlyArray<readonly Cell[]>,
): ColumnRules[] {
  return columns.map(({ drop = LAST, least }, at) => {
    const isRight = cells.some((row) => row[at]?.align === 'right');
    return isRight ? { align: 'right', drop, least } : { drop, least: least ?? A_WORD };
  });
}

/** Names the omitted columns, so that the reader knows about them. */
function hiddenNote(hidden: readonly string[], style: Style): string[] {
  if (hidden.length === 0) return [];
  const note = sentenceLines(`-o wide also shows ${hidden.join(', ')}`, style);
  return note.map((line) => style.paint(line, 'dim'));
}

/** The columns of a table, with cells in the given style. */
export type ColumnsOf<Row> = (style: Style) => readonly Column<Row>[];

type ListTable<Item> = (items: readonly Item[], style: Style) => string;

/** The table of a list, with these columns. */
export function listTable<Item>(columns: ColumnsOf<Item>): ListTable<Item> {
  return (items, style) => renderTable(items, columns(style), style);
}

/** The table of a list, for an answer with one object of it. */
export function ofOne<Item>(table: ListTable<Item>) {
  return (item: Item, style: Style) => table([item], style);
}

/** The same for an answer with the list. */
export function ofItems<Item>(table: ListTable<Item>) {
  return ({ items }: { readonly items: readonly Item[] }, style: Style) => table(items, style);
}

/** A sentence for people, if the table of the former object would show outdated values. */
export function ofGone<Item>(sentence: string, table: ListTable<Item>) {
  return (item: Item, style: Style) => (style.forPeople ? `${sentence}\n` : table([item], style));
}

export type Field = readonly [name: string, value: Cell];
export type FieldsOf = (style: Style) => readonly Field[];

/** The table of one object, with these fields. */
export function fieldList<Body>(fields: (body: Body, style: Style) => readonly Field[]) {
  return (body: Body, style: Style) => renderFields(fields(body, style), style);
}

/** One record, with the name and the value of one field on each line. */
export function renderFields(fields: readonly Field[], style: Style): string {
  if (!style.forPeople) return textOf(fields.map(([name, { text }]) => `${name}\t${text}`));
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return textOf(
    fields.map(([name, { text, tone }]) => {
      const room = ' '.repeat(width - widthOf(name));
      return `${style.paint(name, 'bold')}${room}  ${style.paint(text, tone)}`;
    }),
  );
}

/** One record of a list that is not a table. */
export function recordLine(values: readonly (string | null)[], style: Style): string {
  return `${values.map((value) => style.text(value).text).join('\t')}\n`;
}

export function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
