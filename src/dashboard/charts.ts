// Charts out of characters: a line of bars, a chart of braille dots, a gauge. Gaps in the data stay gaps. Used by the views.
// Knows numbers, not their meaning.

/** null: no sample. */
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

/** How several values become one: their mean, or one of the extremes. */
export type Summary = 'mean' | 'max' | 'min';

const SUMMARIES: Record<Summary, (known: readonly number[]) => number> = {
  mean: (known) => known.reduce((sum, value) => sum + value, 0) / known.length,
  max: (known) => Math.max(...known),
  min: (known) => Math.min(...known),
};

/** As many values as columns, each the summary of its share of the series; null if the share has no value. */
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
  return '█'.repeat(filled) + '─'.repeat(columns - filled);
}

/** @returns null if the series has no value. `last` is the newest value, null if it is unknown. */
export function extentOf(series: Series) {
  const known = series.filter((value) => value !== null);
  if (known.length === 0) return null;
  return { min: Math.min(...known), max: Math.max(...known), last: series.at(-1) ?? null };
}

export interface Scale {
  readonly floor: number;
  readonly ceiling: number;
  /** Equal steps on the chart are equal factors, so that 20 and 200 differ visibly on a scale up to 4,000. */
  readonly isLogarithmic?: boolean;
}

export interface ChartOptions {
  readonly columns: number;
  readonly rows: number;
  readonly summary: Summary;
  readonly scale: Scale;
  /** A value that a dotted line marks over the whole width; null: none. */
  readonly mark: number | null;
}

/** A part of a row in one colour: of a series, or of the dotted line and the blanks. */
interface Stretch {
  readonly text: string;
  /** The index of the series; null: no series. */
  readonly series: number | null;
}

/** The height of a value, 0 to 1. */
function heightOf(value: number, { floor, ceiling, isLogarithmic = false }: Scale): number {
  if (ceiling <= floor) return 0;
  const share = isLogarithmic
    ? Math.log(Math.max(value, floor) / floor) / Math.log(ceiling / floor)
    : (value - floor) / (ceiling - floor);
  return Math.min(1, Math.max(0, share));
}

/** The row of a value in a chart with this many rows, from the top. */
export function rowOf(value: number, scale: Scale, rows: number): number {
  return Math.floor(dotOf(value, scale, rows) / DOTS_HIGH);
}

function dotOf(value: number, scale: Scale, rows: number): number {
  const height = rows * DOTS_HIGH;
  return height - 1 - Math.round(heightOf(value, scale) * (height - 1));
}

/** Distance between the dots of the dotted line. */
const DOTTED = 4;

/** Lines through the values of each series, on one chart. The first series is in front of the others. @returns the rows. */
export function lineChart(
  all: readonly Series[],
  { columns, rows, summary, scale, mark }: ChartOptions,
): Stretch[][] {
  const cells = Array.from({ length: rows }, () => new Uint8Array(columns));
  const owners = Array.from({ length: rows }, () => new Array<number | null>(columns).fill(null));
  const dot = (x: number, y: number, owner: number | null) => {
    const [row, column] = [Math.floor(y / DOTS_HIGH), Math.floor(x / DOTS_WIDE)];
    const [bits, owned] = [cells[row], owners[row]];
    if (bits === undefined || owned === undefined) return;
    bits[column] = (bits[column] ?? 0) | (DOT_BITS[y % DOTS_HIGH]?.[x % DOTS_WIDE] ?? 0);
    if (owner !== null) owned[column] = owner;
  };
  if (mark !== null) {
    const y = dotOf(mark, scale, rows);
    for (let x = 0; x < columns * DOTS_WIDE; x += DOTTED) dot(x, y, null);
  }
  for (const [owner, series] of [...all.entries()].reverse()) {
    let before: number | null = null;
    for (const [x, value] of resampled(series, columns * DOTS_WIDE, summary).entries()) {
      const y = value === null ? null : dotOf(value, scale, rows);
      // A line joins neighbours only, so that a gap in the samples stays a gap on the chart.
      for (let at = y; at !== null; at = stepTowards(at, before)) dot(x, at, owner);
      before = y;
    }
  }
  return cells.map((row, at) => stretchesOf(row, owners[at] ?? []));
}

function stretchesOf(cells: Uint8Array, owners: readonly (number | null)[]): Stretch[] {
  const stretches: { text: string; series: number | null }[] = [];
  for (const [column, bits] of cells.entries()) {
    const series = owners[column] ?? null;
    const last = stretches.at(-1);
    const text = String.fromCharCode(BRAILLE_BLANK + bits);
    if (last !== undefined && last.series === series) last.text += text;
    else stretches.push({ text, series });
  }
  return stretches;
}

/** The next dot on the way to the neighbour's height; null at its end, or without a neighbour. */
function stepTowards(at: number, goal: number | null): number | null {
  if (goal === null || Math.abs(goal - at) <= 1) return null;
  return at + Math.sign(goal - at);
}
