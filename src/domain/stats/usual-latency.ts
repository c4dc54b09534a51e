// The usual duration of a task type's calls, and whether they are slow now. The leader learns it from the polls of the last
// seconds, once a second (engine/limits/concurrency-controller.ts), and keeps it with the record of the limit. Pure.
//
// Usual is a geometric mean over the last day of polls, of medians and of means: an hour of trouble hardly moves it, and slow
// seconds move it least. So a gateway that becomes permanently slower is usual after about a day, and one that gets slower by a
// percent a minute is detected after two to four hours.
import { AVG_DURATION_MS } from '../health.ts';
import { type Durations, percentileOf, shareFrom } from '../numbers.ts';
import type { PresentMetrics } from './task-metrics.ts';

export interface UsualLatency {
  readonly p50Ms: number;
  /** Mean of the polls that succeeded. */
  readonly meanMs: number;
  /** The number of seconds with polls that it was learned from, up to a day. */
  readonly seconds: number;
}

type Now = Pick<PresentMetrics, 'polls' | 'p50Ms' | 'succeededMs'>;

const DAY_SECONDS = 86_400;
/** With fewer seconds no duration is usual. */
export const USUAL_FROM_SECONDS = 15;
/** Slow: this many times as long as usual, and this much longer. */
const TIMES = 3;
const LONGER_MS = 50;
/** Successful calls must also take this many times as long as usual. */
const SUCCESSES_TIMES = 1.5;
/** Polls required for a median; a mean requires more, because one slow poll in a few moves it far. */
const MEDIAN_POLLS = 10;
const MEAN_POLLS = 100;

/** @returns the usual latency after one more second. */
export function learned(usual: UsualLatency | null, now: Now): UsualLatency | null {
  const { polls, p50Ms, succeededMs } = now;
  if (polls < MEDIAN_POLLS || p50Ms === null || succeededMs === null) return usual;
  if (usual === null) return { p50Ms, meanMs: succeededMs, seconds: 1 };
  const seconds = Math.min(DAY_SECONDS, usual.seconds + 1);
  const weight = slownessOf(now, usual) === null ? 1 / seconds : 1 / DAY_SECONDS;
  const mean = (before: number, fresh: number) =>
    Math.max(0.1, before) ** (1 - weight) * Math.max(0.1, fresh) ** weight;
  return { p50Ms: mean(usual.p50Ms, p50Ms), meanMs: mean(usual.meanMs, succeededMs), seconds };
}

export interface Slowness {
  readonly nowMs: number;
  readonly usualMs: number;
  /** A call of at least this duration is slow; null: half of the calls or more are slow. */
  readonly slowFromMs: number | null;
}

/** @returns null: not slow, or no usual duration is known. */
export function slownessOf({ polls, p50Ms, succeededMs }: Now, usual: UsualLatency | null): Slowness | null {
  if (usual === null || usual.seconds < USUAL_FROM_SECONDS || polls < MEDIAN_POLLS) return null;
  // If only failing calls take long, the gateway is not slow: their failure is a separate reason.
  if (succeededMs === null || succeededMs < SUCCESSES_TIMES * usual.meanMs) return null;
  const all = isSlow(p50Ms, usual.p50Ms);
  if (!all && !(polls >= MEAN_POLLS && isSlow(succeededMs, usual.meanMs))) return null;
  return {
    nowMs: succeededMs,
    usualMs: usual.meanMs,
    slowFromMs: all ? null : slowFrom(usual.p50Ms),
  };
}

/**
 * `3.0 s a call, usually 0.02 s`; or, if most calls are as fast as usual, the share of slow calls and the durations of both
 * kinds.
 */
export function slownessWords({ nowMs, usualMs, slowFromMs }: Slowness, durations: Durations): string {
  const mean = `${secondsWords(nowMs)} a call, usually ${secondsWords(usualMs)}`;
  if (slowFromMs === null) return `takes ${mean}`;
  const percent = Math.max(1, Math.round(100 * shareFrom(durations, slowFromMs)));
  const [half, nearly] = [0.5, 0.95].map((share) => secondsWords(percentileOf(durations, share) ?? nowMs));
  return `is slow for ${percent} % of the calls: on average ${mean} (p50 ${half}, p95 ${nearly})`;
}

/** Two digits, as operators read them: `12 s`, `3.0 s`, `0.05 s`, `0.004 s`. */
export function secondsWords(ms: number): string {
  const seconds = ms / 1000;
  if (seconds >= 10) return `${Math.round(seconds)} s`;
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  return `${seconds >= 0.01 ? seconds.toFixed(2) : Number(seconds.toPrecision(1))} s`;
}

/** The stored form: with few digits, and after a minute in steps of seconds, so that it is not written every second. */
export function storedUsual(usual: UsualLatency): UsualLatency {
  const { p50Ms, meanMs, seconds } = usual;
  return {
    p50Ms: Number(p50Ms.toPrecision(3)),
    meanMs: Number(meanMs.toPrecision(3)),
    seconds: seconds < 60 ? seconds : seconds - (seconds % 60),
  };
}

/**
 * Whether a duration is slow compared with the usual one; without that, whether the operations interface, section 8, alerts on
 * it.
 */
export function isSlow(ms: number | null, usualMs: number | null): boolean {
  return ms !== null && (usualMs === null ? ms > AVG_DURATION_MS.alertAbove : ms >= slowFrom(usualMs));
}

function slowFrom(usualMs: number): number {
  return Math.max(TIMES * usualMs, usualMs + LONGER_MS);
}
