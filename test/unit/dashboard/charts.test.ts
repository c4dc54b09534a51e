// Charts show what is known, where it is known, at its height.
import { describe, expect, it } from 'vitest';
import { extentOf, gauge, lineChart, resampled, sparkline } from '../../../src/dashboard/charts.ts';
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
  [0, 4, '░░░░'],
  [0.001, 4, '█░░░'],
  [0.5, 4, '██░░'],
  [1, 4, '████'],
  [7, 4, '████'],
  [-1, 4, '░░░░'],
  [0.99, 10, '█████████░'],
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
  const chart = (series: (number | null)[], columns: number, rows: number) =>
    lineChart([series], { columns, rows, summary: 'max', scale: null });

  it('draws from the bottom to the top, joined', () => {
    expect(chart([0, 1, 2, 3], 2, 1)).toEqual(['⡠⠊']);
    expect(chart([0, 3], 1, 1)).toEqual(['⡸']);
  });

  it('leaves a gap a gap', () => {
    const [line = ''] = chart([1, 1, null, null, 1, 1], 3, 1);
    expect([...line][1]).toBe('⠀');
    expect(line).toBe('⠉⠀⠉');
  });

  it('draws several series on one scale', () => {
    const both = lineChart(
      [
        [4, 4],
        [0, 0],
      ],
      { columns: 1, rows: 1, summary: 'max', scale: null },
    );
    expect(both).toEqual(['⣉']);
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
