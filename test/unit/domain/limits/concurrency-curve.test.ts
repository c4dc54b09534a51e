import { describe, expect, it } from 'vitest';
import { type CurvePoint, kneeOf, withPoint } from '../../../../src/domain/limits/concurrency-curve.ts';

function point(concurrency: number, ratePerSecond: number, over: Partial<CurvePoint> = {}): CurvePoint {
  return { concurrency, ratePerSecond, avgDurationMs: 50, backpressurePercent: 0, atMs: 0, ...over };
}
const curveOf = (points: readonly CurvePoint[]) =>
  points.reduce<CurvePoint[]>((curve, one) => withPoint(curve, one), []);

describe('the curve', () => {
  it('keeps one point a level, by concurrency, the fresh measurement weighing less than the ones before', () => {
    const curve = curveOf([point(100, 900), point(10, 100), point(101, 1_000, { atMs: 5 })]);
    expect(curve).toEqual([point(10, 100), point(101, 930, { atMs: 5 })]);
  });

  it('stays bounded and forgets what was measured longest ago', () => {
    const all = Array.from({ length: 60 }, (_, i) => point(Math.round(1.3 ** i), i, { atMs: i }));
    const curve = curveOf(all);
    expect(curve).toHaveLength(20);
    expect(curve.map(({ atMs }) => atMs)).toEqual(all.slice(40).map(({ atMs }) => atMs));
  });
});

describe('the knee', () => {
  it('is the smallest concurrency that nearly reaches the best rate', () => {
    expect(kneeOf([point(20, 400), point(60, 1_170), point(90, 1_200), point(110, 1_190)])?.concurrency).toBe(
      60,
    );
  });

  it('does not count what was refused', () => {
    const refused = point(140, 2_000, { backpressurePercent: 12 });
    expect(kneeOf([point(20, 400), point(60, 1_170), refused])?.concurrency).toBe(60);
  });

  it('is unknown with less than two levels', () => {
    expect(kneeOf([])).toBeNull();
    expect(kneeOf([point(20, 400)])).toBeNull();
    expect(kneeOf([point(20, 400), point(90, 500, { backpressurePercent: 50 })])).toBeNull();
  });
});
