// Tables as text: aligned columns under a header for people; behind a pipe one record a line, its values separated
// by tabs. No borders either way.
import type { Cell, Style } from './style.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Cell;
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  style: Style,
): string {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  if (!style.forPeople) return lines(cells.map((row) => row.map(({ text }) => text).join('\t')));
  const rightAligned = columns.map((_, index) => cells.some((row) => row[index]?.align === 'right'));
  const header = columns.map(({ header: text }): Cell => ({ text, colour: 'bold' }));
  const all = [header, ...cells];
  const widths = columns.map((_, index) =>
    Math.max(...all.map((row) => displayWidth(row[index]?.text ?? ''))),
  );
  return lines(
    all.map((row) =>
      row
        .map(({ text, colour }, index) => {
          const room = ' '.repeat((widths[index] ?? 0) - displayWidth(text));
          const painted = style.paint(text, colour);
          return rightAligned[index] ? `${room}${painted}` : `${painted}${room}`;
        })
        .join('  ')
        .trimEnd(),
    ),
  );
}

/** One record with many fields: a name and its value a line. */
export function renderFields(
  fields: readonly (readonly [name: string, value: Cell])[],
  style: Style,
): string {
  if (!style.forPeople) return lines(fields.map(([name, { text }]) => `${name}\t${text}`));
  const width = Math.max(...fields.map(([name]) => displayWidth(name)));
  return lines(
    fields.map(([name, { text, colour }]) => {
      const room = ' '.repeat(width - displayWidth(name));
      return `${style.paint(name, 'bold')}${room}  ${style.paint(text, colour)}`;
    }),
  );
}

function lines(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join('');
}

/** Columns on a terminal: Chinese, Japanese and Korean characters take two. */
function displayWidth(text: string): number {
  return text.length + (text.match(WIDE)?.length ?? 0);
}
