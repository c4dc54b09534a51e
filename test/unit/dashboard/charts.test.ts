// Charts show what is known, where it is known, at its height.
import { describe, expect, it } from 'vitest';
import {
  type ChartOptions,
  extentOf,
  gauge,
  lineChart,
  resampled,
  rowOf,
  sparkline,
} from '../../../src/dashboard/charts.ts';
import { merged, minutesOf, seriesOf } from '../../../src/dashboard/series.ts';
import { CALM, HISTORY } from './states.ts';

const NOW = Date.parse(CALM.generated_at);

describe('sparkline', () => {
  it.each<[(number | null)[], number, string]>([
    [[0, 1, 2, 3, 4, 5, 6, 7], 8, '▁▂▃▄▅▆▇█'],
    [[0, 0, 0], 3, '▁▁▁'],
    [[1, null, 8], 3, '▂ █'],
    [[null, null], 2, '  '],
    [[2, 4, 6, 8], 2, '▄█'],
    [[5], 3, '███'],
  ])('%j on %i columns is %j', (series, columns, expected) => {
    expect(sparkline(series, columns)).toBe(expected);
  });
});

it.each([
  [0, 4, '────'],
  [0.001, 4, '█───'],
  [0.5, 4, '██──'],
  [1, 4, '████'],
  [7, 4, '████'],
  [-1, 4, '────'],
  [0.99, 10, '█████████─'],
])('gauge of %d', (share, columns, expected) => {
  expect(gauge(share, columns)).toBe(expected);
});

describe('resampled', () => {
  it('keeps what the summary is about', () => {
    const series = [1, 9, null, null, 2, 4];
    expect(resampled(series, 3, 'max')).toEqual([9, null, 4]);
    expect(resampled(series, 3, 'min')).toEqual([1, null, 2]);
    expect(resampled(series, 3)).toEqual([5, null, 3]);
  });
});

describe('lineChart', () => {
  const drawn = (
    all: (number | null)[][],
    columns: number,
    rows: number,
    over: Partial<ChartOptions> = {},
  ) => {
    const ceiling = Math.max(...all.flat().map((value) => value ?? 0));
    return lineChart(all, {
      ...{ columns, rows, summary: 'max', scale: { floor: 0, ceiling }, mark: null },
      ...over,
    });
  };
  const textsOf = (lines: ReturnType<typeof drawn>) =>
    lines.map((line) => line.map(({ text }) => text).join(''));
  const chart = (series: (number | null)[], columns: number, rows: number) =>
    textsOf(drawn([series], columns, rows));

  it('draws from the bottom to the top, joined', () => {
    expect(chart([0, 1, 2, 3], 2, 1)).toEqual(['⡠⠊']);
    expect(chart([0, 3], 1, 1)).toEqual(['⡸']);
  });

  it('leaves a gap a gap', () => {
    const [line = ''] = chart([1, 1, null, null, 1, 1], 3, 1);
    expect([...line][1]).toBe('⠀');
    expect(line).toBe('⠉⠀⠉');
  });

  it('draws several series on one scale, each in its own stretch', () => {
    const all = [
      [4, 4],
      [0, 0],
    ];
    expect(textsOf(drawn(all, 1, 1))).toEqual(['⣉']);
    expect(drawn(all, 1, 2)).toEqual([[{ text: '⠉', series: 0 }], [{ text: '⣀', series: 1 }]]);
  });

  it('dots the line that values are measured by, in a stretch of no series', () => {
    const scale = { floor: 0, ceiling: 10 };
    expect(drawn([[0, 0, 0, 0]], 2, 2, { scale, mark: 10 })).toEqual([
      [{ text: '⠁⠀', series: null }],
      [{ text: '⣀⣀', series: 0 }],
    ]);
    expect([0, 10].map((value) => rowOf(value, scale, 2))).toEqual([1, 0]);
  });

  it('has equal steps for equal factors on a logarithmic scale', () => {
    const scale = { floor: 10, ceiling: 1_000, isLogarithmic: true };
    expect([1, 10, 99, 1_000, 9_999].map((value) => rowOf(value, scale, 2))).toEqual([1, 1, 1, 0, 0]);
    expect(rowOf(110, scale, 2)).toBe(0);
  });

  it('is as large as asked for', () => {
    const lines = chart([1, 2, 3], 20, 5);
    expect(lines.map((line) => line.length)).toEqual([20, 20, 20, 20, 20]);
  });
});

describe('series of the history', () => {
  it('has a value a second and null where there is no sample', () => {
    const series = seriesOf(HISTORY, 'realname', 'rate_per_second', NOW);
    expect(series).toHaveLength(900);
    expect(series.at(-1)).toBe(101);
    expect(series[0]).toBe(1_000);
    expect(series.filter((value) => value === null)).toHaveLength(61);
    expect(extentOf(series)).toEqual({ min: 101, max: 1_000, last: 101 });
  });

  it('ends now when samples have ceased, so that old ones do not look new', () => {
    const series = (lateMs: number) => seriesOf(HISTORY, 'realname', 'rate_per_second', NOW + lateMs);
    expect(series(29_000).at(-1)).toBe(101);
    expect(series(300_000).slice(-303)).toEqual([102, 101, ...Array(301).fill(null)]);
    expect(extentOf(series(300_000))?.last).toBeNull();
    expect(extentOf(series(1_000_000))).toBeNull();
  });

  it('is of the shortest stretch that holds what is known', () => {
    const short = { ...HISTORY, items: HISTORY.items.slice(-30) };
    expect([minutesOf(null, NOW), minutesOf(short, NOW), minutesOf(HISTORY, NOW)]).toEqual([15, 1, 15]);
    expect(seriesOf(short, 'package', 'p50_ms', NOW)).toHaveLength(60);
  });

  it('grows by what is newer and forgets what is too old', () => {
    const older = { ...HISTORY, items: HISTORY.items.slice(0, 600) };
    const newer = { ...HISTORY, items: HISTORY.items.slice(590) };
    expect(merged(older, newer)).toEqual(HISTORY);
    expect(merged(null, newer)).toEqual(newer);
    const late = new Date(Date.parse(HISTORY.items.at(-1)?.at ?? '') + 60_000).toISOString();
    const later = merged(HISTORY, { ...HISTORY, items: [{ at: late, tasks: [] }] });
    expect(Date.parse(late) - Date.parse(later.items[0]?.at ?? '')).toBeLessThan(900_000);
  });
});
