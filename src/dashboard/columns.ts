// Rows of cells in aligned columns that always fit: a column that may shrink does, then the least important ones go.
// Used by the views.
import { fitted, type Line, lineWidth, padded, type Span, span } from './line.ts';

export interface SpanColumn<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Span | Line;
  readonly align?: 'right';
  /** May be cut down to this many columns. */
  readonly shrinkTo?: number;
  /** Where there is no room the highest go first; without one a column stays. */
  readonly dropAt?: number;
}

interface TableOptions {
  readonly columns: number;
  /** At most so many lines, the header included. Rows around the selected one are shown. */
  readonly rows: number;
  /** Index of the row the keys act on; null: none. */
  readonly selected: number | null;
}

const GAP = 2;
const MARK = '▸ ';

/** Header and rows; nothing but the header where there are none. */
export function tableLines<Row>(
  rows: readonly Row[],
  wanted: readonly SpanColumn<Row>[],
  { columns, rows: height, selected }: TableOptions,
): Line[] {
  const { first, visible } = windowOf(rows, height - 1, selected);
  const room = columns - MARK.length;
  const kept = dropped(wanted, (column) => naturalWidth(column, visible), room);
  const widths = shrunk(
    kept,
    kept.map((column) => naturalWidth(column, visible)),
    room,
  );
  const line = (cells: readonly Line[], mark: Span): Line => [
    mark,
    ...cells.flatMap((cell, i) => [
      ...(i === 0 ? [] : [span(' '.repeat(GAP))]),
      ...padded(cell, widths[i] ?? 0, kept[i]?.align),
    ]),
  ];
  return [
    line(
      kept.map(({ header }) => [span(header, 'dim')]),
      span('  '),
    ),
    ...visible.map((row, i) => {
      const isSelected = first + i === selected;
      return line(
        kept.map(({ cell }) => lineOf(cell(row))),
        isSelected ? span(MARK, 'picked') : span('  '),
      );
    }),
  ];
}

function lineOf(cell: Span | Line): Line {
  return 'text' in cell ? [cell] : cell;
}

function naturalWidth<Row>({ header, cell }: SpanColumn<Row>, rows: readonly Row[]): number {
  // What is shown decides, so steering characters must be out before it is measured.
  return Math.max(...[[span(header)], ...rows.map((row) => lineOf(cell(row)))].map(shownWidth));
}

function shownWidth(line: Line): number {
  return lineWidth(fitted(line, Number.MAX_SAFE_INTEGER));
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, widths.length - 1);
}

function dropped<Row>(
  columns: readonly SpanColumn<Row>[],
  widthOfColumn: (column: SpanColumn<Row>) => number,
  room: number,
): readonly SpanColumn<Row>[] {
  const least = (column: SpanColumn<Row>) =>
    Math.min(widthOfColumn(column), column.shrinkTo ?? Number.MAX_SAFE_INTEGER);
  let kept = columns;
  while (total(kept.map(least)) > room) {
    const order = kept.map(({ dropAt }) => dropAt ?? 0);
    const highest = Math.max(...order);
    if (highest === 0) return kept;
    const goes = order.lastIndexOf(highest);
    kept = kept.filter((_, i) => i !== goes);
  }
  return kept;
}

/** Takes what is too much from the widest column that may shrink, again and again. */
function shrunk<Row>(
  columns: readonly SpanColumn<Row>[],
  natural: readonly number[],
  room: number,
): number[] {
  const widths = [...natural];
  while (total(widths) > room) {
    const spare = columns.map(({ shrinkTo }, i) =>
      shrinkTo === undefined ? 0 : (widths[i] ?? 0) - shrinkTo,
    );
    const most = Math.max(...spare);
    if (most <= 0) return widths;
    const widest = spare.indexOf(most);
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function windowOf<Row>(rows: readonly Row[], height: number, selected: number | null) {
  const fits = Math.max(0, height);
  const last = Math.max(0, rows.length - fits);
  const first = Math.min(last, Math.max(0, (selected ?? 0) - Math.floor(fits / 2)));
  return { first, visible: rows.slice(first, first + fits) };
}
