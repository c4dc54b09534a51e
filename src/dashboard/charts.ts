// Charts out of characters: a line of bars, a chart of braille dots, a gauge. Gaps in the data stay gaps. Used by the
// views. Knows numbers, not what they mean.

/** null where there is no sample. */
export type Series = readonly (number | null)[];

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const DOTS_WIDE = 2;
const DOTS_HIGH = 4;
const BRAILLE_BLANK = 0x2800;
/** The bit of each dot of a braille cell, by row, then column. */
const DOT_BITS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;

/** How several values become one: their mean, or the extreme that matters. */
export type Summary = 'mean' | 'max' | 'min';

const SUMMARIES: Record<Summary, (known: readonly number[]) => number> = {
  mean: (known) => known.reduce((sum, value) => sum + value, 0) / known.length,
  max: (known) => Math.max(...known),
  min: (known) => Math.min(...known),
};

/** As many values as columns, each the summary of its share of the series; null where the share has no value. */
export function resampled(series: Series, columns: number, summary: Summary = 'mean'): Series {
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * series.length) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * series.length) / columns));
    const known = series.slice(from, to).filter((value) => value !== null);
    return known.length === 0 ? null : SUMMARIES[summary](known);
  });
}

/** Bars of eight heights from zero; the highest value has the highest bar. */
export function sparkline(series: Series, columns: number): string {
  const values = resampled(series, columns);
  const max = Math.max(...values.map((value) => value ?? 0));
  const bar = (value: number) => BARS[max === 0 ? 0 : Math.round((value / max) * (BARS.length - 1))];
  return values.map((value) => (value === null ? ' ' : bar(value))).join('');
}

/** @param share 0 to 1. Any share above 0 fills at least one column, and none below 1 fills them all. */
export function gauge(share: number, columns: number): string {
  const whole = Math.min(1, Math.max(0, share));
  const partly = Math.min(columns - 1, Math.max(1, Math.round(whole * columns)));
  const filled = whole === 0 || whole === 1 ? whole * columns : partly;
  return '█'.repeat(filled) + '░'.repeat(columns - filled);
}

/** @returns null where the series has no value. `last` is the newest value, null where it is unknown. */
export function extentOf(series: Series) {
  const known = series.filter((value) => value !== null);
  if (known.length === 0) return null;
  return { min: Math.min(...known), max: Math.max(...known), last: series.at(-1) ?? null };
}

interface ChartOptions {
  readonly columns: number;
  readonly rows: number;
  readonly summary: Summary;
  /** The values of the lowest and the highest dot; null: 0 and the highest value drawn. */
  readonly scale: { readonly floor: number; readonly ceiling: number } | null;
}

/** Lines through the values of each series, on one chart. @returns one text a row, all of full width. */
export function lineChart(all: readonly Series[], { columns, rows, summary, scale }: ChartOptions): string[] {
  const cells = Array.from({ length: rows }, () => new Uint8Array(columns));
  const height = rows * DOTS_HIGH;
  const drawn = all.map((series) => resampled(series, columns * DOTS_WIDE, summary));
  const highest = Math.max(...drawn.flat().map((value) => value ?? 0));
  const { floor, ceiling } = scale ?? { floor: 0, ceiling: highest };
  const rowOf = (value: number) => {
    const share = ceiling <= floor ? 0 : (value - floor) / (ceiling - floor);
    return height - 1 - Math.round(Math.min(1, Math.max(0, share)) * (height - 1));
  };
  const dot = (x: number, y: number) => {
    const row = cells[Math.floor(y / DOTS_HIGH)];
    const bit = DOT_BITS[y % DOTS_HIGH]?.[x % DOTS_WIDE] ?? 0;
    const column = Math.floor(x / DOTS_WIDE);
    if (row !== undefined) row[column] = (row[column] ?? 0) | bit;
  };
  for (const series of drawn) {
    let before: number | null = null;
    for (const [x, value] of series.entries()) {
      const y = value === null ? null : rowOf(value);
      // A line joins neighbours only, so that a gap in the samples stays a gap on the chart.
      for (let at = y; at !== null; at = stepTowards(at, before)) dot(x, at);
      before = y;
    }
  }
  return cells.map((row) => String.fromCharCode(...Array.from(row, (bits) => BRAILLE_BLANK + bits)));
}

/** The next dot on the way to the neighbour's height; null at its end, or without a neighbour. */
function stepTowards(at: number, goal: number | null): number | null {
  if (goal === null || Math.abs(goal - at) <= 1) return null;
  return at + Math.sign(goal - at);
}
