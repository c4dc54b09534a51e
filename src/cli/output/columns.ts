// Lays cells out in aligned columns: leaves out whole columns until the table fits, and cuts those that may be cut.
// Used by the tables of commands and of the dashboard, which paint the lines.
import { fitted, lineWidth, padded, type Toned, type WidthOf } from './line.ts';

export interface ColumnRules {
  readonly align?: 'right' | undefined;
  /**
   * Where there is too little room, the column with the lowest number is left out first; of equal ones the right one.
   * A column without a number stays.
   */
  readonly drop?: number | undefined;
  /** Its values may be cut to this width, in columns of the terminal. Without it they are never cut. */
  readonly least?: number | undefined;
}

interface LaidTable<Tone> {
  /** One for each row. Where the columns that stay have too little room, the line is cut at its end. */
  readonly lines: ReadonlyArray<readonly Toned<Tone>[]>;
  readonly isHidden: readonly boolean[];
}

interface Room {
  /** null: as many as the table takes. */
  readonly columns: number | null;
  readonly widthOf: WidthOf;
}

interface Need {
  readonly width: number;
  readonly least: number;
  readonly drop: number | undefined;
}

const GAP = 2;

/** @param cells by row. The first row is the header, and a column is never narrower than its header. */
export function layTable<Tone>(
  rules: readonly ColumnRules[],
  cells: ReadonlyArray<ReadonlyArray<readonly Toned<Tone>[]>>,
  { columns, widthOf }: Room,
): LaidTable<Tone> {
  // Cells are measured as they are shown: string-width counts a control sequence as nothing as long as it is complete.
  const rows = cells.map((row) => row.map((cell) => fitted(cell, Number.POSITIVE_INFINITY, widthOf)));
  const needs = rules.map(({ least, drop }, at): Need => {
    const [header = 0, ...values] = rows.map((row) => lineWidth(row[at] ?? [], widthOf));
    const width = Math.max(header, ...values);
    return { width, least: least === undefined ? width : Math.min(width, Math.max(least, header)), drop };
  });
  const widths = columns === null ? needs.map(({ width }) => width) : fittingWidths(needs, columns);
  const lines = rows.map((row) => {
    const line = row.flatMap((cell, at) => {
      const width = widths[at] ?? 0;
      if (width === 0) return [];
      const gap = at === 0 ? [] : [{ text: ' '.repeat(GAP) }];
      return [...gap, ...padded(cell, width, rules[at]?.align ?? 'left', widthOf)];
    });
    return columns === null ? line : fitted(line, columns, widthOf);
  });
  return { lines, isHidden: widths.map((width) => width === 0) };
}

/** @returns the width of each column; 0 for one that is left out. The first always stays. */
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

/** Gives spare room to the columns that are cut, beginning with the one that is cut least. */
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
