// Which columns of a table a terminal has room for, and how wide each may be. Used by table.ts. Pure.

export interface ColumnNeed {
  /** Of its widest value. */
  readonly width: number;
  /** Columns with the lowest number are left out first; null: kept as long as anything is. */
  readonly drop: number | null;
  /** Its values may be cut down to this; null: not at all, as with numbers, which mean another number then. */
  readonly least: number | null;
}

export const GAP = 2;

/** @returns the width of each column in `columns` of the terminal; 0 for one that is left out. The first always stays. */
export function fitColumns(needs: readonly ColumnNeed[], columns: number | null): number[] {
  if (columns === null) return needs.map(({ width }) => width);
  const kept = new Set(needs.keys());
  for (const index of leftOutFirst(needs)) {
    if (leastWidth([...kept].map((at) => needs[at])) <= columns) break;
    kept.delete(index);
  }
  return widen(needs, kept, columns);
}

/** Indexes in the order they go: by number, then the others from the right; never the first. */
function leftOutFirst(needs: readonly ColumnNeed[]): number[] {
  const orderOf = ({ drop }: ColumnNeed) => drop ?? Number.POSITIVE_INFINITY;
  return [...needs.entries()]
    .slice(1)
    .sort(([i, a], [j, b]) => (orderOf(a) === orderOf(b) ? j - i : orderOf(a) - orderOf(b)))
    .map(([index]) => index);
}

function leastOf({ width, least }: ColumnNeed): number {
  return least === null ? width : Math.min(width, least);
}

function leastWidth(needs: ReadonlyArray<ColumnNeed | undefined>): number {
  const present = needs.filter((need) => need !== undefined);
  return present.reduce((sum, need) => sum + leastOf(need), 0) + GAP * (present.length - 1);
}

/** Hands the room that is left to the columns that were cut, to the one that is cut least of them first. */
function widen(needs: readonly ColumnNeed[], kept: ReadonlySet<number>, columns: number): number[] {
  let room = columns - leastWidth([...kept].map((at) => needs[at]));
  const widths = needs.map((need, index) => (kept.has(index) ? leastOf(need) : 0));
  if (room < 0) widths[0] = Math.max(1, (widths[0] ?? 0) + room);
  const cut = [...needs.entries()]
    .filter(([index, need]) => kept.has(index) && leastOf(need) < need.width)
    .sort(([, a], [, b]) => a.width - leastOf(a) - (b.width - leastOf(b)));
  for (const [position, [index, need]] of cut.entries()) {
    const share = Math.max(0, Math.floor(room / (cut.length - position)));
    const extra = Math.min(need.width - leastOf(need), share);
    widths[index] = leastOf(need) + extra;
    room -= extra;
  }
  return widths;
}
