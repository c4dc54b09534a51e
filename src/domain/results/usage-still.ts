// Detects that the usage of a fleet stands still, as when a gateway answers from a stale cache. Two facts must agree: among many
// readings none grew for minutes, and at this hour of the last days readings did. Pure; used by src/health.
import { sum } from '../numbers.ts';
import { type GrowthHistory, growthOf, hourOf, minuteOf, usualGrowth } from './usage-growth.ts';

/** Devices may all pause for some minutes. */
const LEAST_MINUTES = 10;
const LEAST_READINGS = 200;
/**
 * Number of readings that must have grown in the ten minutes before: fewer could be chance. After an hour without growth, none is
 * required.
 */
const LEAST_GROWN = 20;
const LONG_MINUTES = 60;

/**
 * @param readPerMinute readings of usage in the last minutes
 * @returns for how many minutes no reading grew, an hour at most; null: readings grow, or it is unknown whether they should.
 */
export function stillMinutes(history: GrowthHistory, nowMs: number, readPerMinute: number): number | null {
  const now = minuteOf(nowMs);
  const grown = [...history.minutes]
    .map(([minute, counts]) => ({ minute, cards: growthOf(counts).readings }))
    .filter(({ minute, cards }) => cards > 0 && minute <= now);
  const last = Math.max(now - LONG_MINUTES, ...grown.map(({ minute }) => minute));
  const still = now - last;
  if (still < LEAST_MINUTES || still * readPerMinute < LEAST_READINGS) return null;
  if ((usualGrowth(history.hours, hourOf(nowMs)) ?? 0) === 0) return null;
  const before = grown.filter(({ minute }) => minute > last - LEAST_MINUTES);
  return still >= LONG_MINUTES || sum(before.map(({ cards }) => cards)) >= LEAST_GROWN ? still : null;
}
