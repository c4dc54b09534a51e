// Tables as text: aligned columns under a header, on a terminal as many as it has room for; or one record a line with all
// values, separated by tabs. Neither has borders.
import { type ColumnRules, layTable } from './columns.ts';
import { type Cell, type Style, sentenceLines } from './style.ts';

/** Columns without `drop` are left out last. */
export interface Column<Row> extends Pick<ColumnRules, 'drop' | 'least'> {
  readonly header: string;
  readonly cell: (row: Row) => Cell;
}

/** Texts of a column without `least` may be cut to this. Numbers are not cut, because that makes other numbers of them. */
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
  if (!style.forPeople) return lines(cells.map((row) => row.map(({ text }) => text).join('\t')));
  const rules = columns.map(({ drop = LAST, least }, at): ColumnRules => {
    const isRight = cells.some((row) => row[at]?.align === 'right');
    return isRight ? { align: 'right', drop, least } : { drop, least: least ?? A_WORD };
  });
  const laid = layTable(
    rules,
    [header, ...cells].map((row) => row.map((cell) => [cell])),
    { columns: room, widthOf: style.layout.widthOf },
  );
  const shown = laid.lines.map((line) =>
    line
      .map(({ text, tone }) => style.paint(text, tone))
      .join('')
      .trimEnd(),
  );
  const hidden = columns.filter((_, at) => laid.isHidden[at]).map((column) => column.header);
  return lines([...shown, ...hiddenNote(hidden, style)]);
}

/** Names the columns that were left out, so that the reader knows of them. */
function hiddenNote(hidden: readonly string[], style: Style): string[] {
  if (hidden.length === 0) return [];
  const note = sentenceLines(`-o wide also shows ${hidden.join(', ')}`, style);
  return note.map((line) => style.paint(line, 'dim'));
}

type ListTable<Item> = (items: readonly Item[], style: Style) => string;

/** The table of a list, with these columns. */
export function listTable<Item>(columns: (style: Style) => readonly Column<Item>[]): ListTable<Item> {
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

export type Field = readonly [name: string, value: Cell];
export type FieldsOf = (style: Style) => readonly Field[];

/** The table of one object, with these fields. */
export function fieldList<Body>(fields: (body: Body, style: Style) => readonly Field[]) {
  return (body: Body, style: Style) => renderFields(fields(body, style), style);
}

/** One record, with the name and the value of one field on each line. */
export function renderFields(fields: readonly Field[], style: Style): string {
  if (!style.forPeople) return lines(fields.map(([name, { text }]) => `${name}\t${text}`));
  const { widthOf } = style.layout;
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return lines(
    fields.map(([name, { text, tone }]) => {
      const room = ' '.repeat(width - widthOf(name));
      return `${style.paint(name, 'bold')}${room}  ${style.paint(text, tone)}`;
    }),
  );
}

function lines(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join('');
}
