// Tables as text: aligned columns under a header for people, as many as the terminal has room for; behind a pipe one
// record a line, all its values separated by tabs. No borders either way.
import { sentenceLines } from './sentence.ts';
import type { Cell, Style } from './style.ts';
import { type ColumnNeed, fitColumns, GAP } from './table-fit.ts';
import { cutTo } from './text-width.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Cell;
  /** Where the terminal is narrow, columns with the lowest number are left out first; those without one last. */
  readonly drop?: number;
  /** It may be cut to this many columns of the terminal. Without it texts may be cut to a word, and numbers not at all. */
  readonly least?: number;
}

const A_WORD = 12;

export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  style: Style,
): string {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const header = columns.map(({ header: text }): Cell => ({ text, colour: 'bold' }));
  if (!style.forPeople) {
    const records = style.layout.header ? [header, ...cells] : cells;
    return lines(records.map((row) => row.map(({ text }) => text).join('\t')));
  }
  const { columns: room, widthOf } = style.layout;
  const all = [header, ...cells];
  const rightAligned = columns.map((_, index) => cells.some((row) => row[index]?.align === 'right'));
  const needs = columns.map((column, index): ColumnNeed => {
    const widthsOfAll = all.map((row) => widthOf(row[index]?.text ?? ''));
    const least = column.least ?? (rightAligned[index] ? null : A_WORD);
    // The header of a column stays whole.
    const bounded = least === null ? null : Math.max(least, widthsOfAll[0] ?? 0);
    return { width: Math.max(...widthsOfAll), drop: column.drop ?? null, least: bounded };
  });
  const widths = fitColumns(needs, room);
  const shown = all.map((row) =>
    row
      .flatMap(({ text: whole, colour }, index) => {
        const width = widths[index] ?? 0;
        if (width === 0) return [];
        const text = cutTo(whole, width, widthOf);
        const pad = ' '.repeat(width - widthOf(text));
        const painted = style.paint(text, colour);
        return [rightAligned[index] ? `${pad}${painted}` : `${painted}${pad}`];
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
  const hidden = columns.filter((_, index) => widths[index] === 0).map((column) => column.header);
  return lines([...shown, ...hiddenNote(hidden, style)]);
}

/** What is left out is said, so that nobody takes the table for all there is. */
function hiddenNote(hidden: readonly string[], style: Style): string[] {
  if (hidden.length === 0) return [];
  const note = sentenceLines(`-o wide also shows ${hidden.join(', ')}`, style);
  return note.map((line) => style.paint(line, 'dim'));
}

export type Field = readonly [name: string, value: Cell];
export type FieldsOf = (style: Style) => readonly Field[];

/** One record with many fields: a name and its value a line. */
export function renderFields(fields: readonly Field[], style: Style): string {
  if (!style.forPeople) return lines(fields.map(([name, { text }]) => `${name}\t${text}`));
  const { widthOf } = style.layout;
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return lines(
    fields.map(([name, { text, colour }]) => {
      const room = ' '.repeat(width - widthOf(name));
      return `${style.paint(name, 'bold')}${room}  ${style.paint(text, colour)}`;
    }),
  );
}

function lines(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join('');
}
