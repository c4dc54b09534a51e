// The measured curve of a task type: polls a second and latency at its former limits. The leader adds to it
// (engine/limits/concurrency-controller.ts), the API shows it, `concurrency advise` explains its advice with it. Pure.
import { rounded } from '../numbers.ts';

export interface CurvePoint {
  /** The limit; it was reached, so also the number of calls in flight. */
  readonly concurrency: number;
  readonly ratePerSecond: number;
  /** Average of the successful polls. */
  readonly avgDurationMs: number;
  /** Calls answered 429 or 503. */
  readonly backpressurePercent: number;
  /** Time of the last measurement. */
  readonly atMs: number;
}

/** Ratio between levels; measurements within a level are smoothed into one point. */
const LEVEL_FACTOR = 1.25;
const MOST_LEVELS = 20;
/** Weight of a new measurement. */
const FRESH_WEIGHT = 0.3;
/** Share of the best rate that is good enough. */
const WORTHWHILE = 0.95;
const MOST_BACKPRESSURE_PERCENT = 1;

/** @returns the curve with the measurement, sorted by concurrency; the oldest levels are dropped first. */
export function withPoint(curve: readonly CurvePoint[], point: CurvePoint): CurvePoint[] {
  const before = curve.find((one) => levelOf(one.concurrency) === levelOf(point.concurrency));
  const rest = curve.filter((one) => one !== before);
  const kept = rest.sort((a, b) => b.atMs - a.atMs).slice(0, MOST_LEVELS - 1);
  return [...kept, before === undefined ? short(point) : smoothed(before, point)].sort(
    (a, b) => a.concurrency - b.concurrency,
  );
}

/**
 * The smallest measured concurrency that reaches nearly the best rate without refusals: a higher one gains nothing. null with
 * fewer than two levels.
 */
export function kneeOf(curve: readonly CurvePoint[]): CurvePoint | null {
  const sound = curve.filter((point) => point.backpressurePercent <= MOST_BACKPRESSURE_PERCENT);
  if (sound.length < 2) return null;
  const best = Math.max(...sound.map((point) => point.ratePerSecond));
  return sound.find((point) => point.ratePerSecond >= WORTHWHILE * best) ?? null;
}

function levelOf(concurrency: number): number {
  return Math.round(Math.log(concurrency) / Math.log(LEVEL_FACTOR));
}

function smoothed(before: CurvePoint, fresh: CurvePoint): CurvePoint {
  const mix = (read: (point: CurvePoint) => number) =>
    (1 - FRESH_WEIGHT) * read(before) + FRESH_WEIGHT * read(fresh);
  return short({
    ...fresh,
    ratePerSecond: mix((point) => point.ratePerSecond),
    avgDurationMs: mix((point) => point.avgDurationMs),
    backpressurePercent: mix((point) => point.backpressurePercent),
  });
}

/** Two decimals, because the curve is sent as JSON once a second. */
function short(point: CurvePoint): CurvePoint {
  return {
    ...point,
    ratePerSecond: rounded(point.ratePerSecond),
    avgDurationMs: rounded(point.avgDurationMs),
    backpressurePercent: rounded(point.backpressurePercent),
  };
}
