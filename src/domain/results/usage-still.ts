// Whether the usage of a fleet stands still, as when a gateway answers from a cache that nobody fills. Two facts have to agree: no reading
// of many grew for minutes, and at this hour of the last days readings did. Pure; used by src/health.
import { sum } from '../numbers.ts';
import { type GrowthHistory, growthOf, hourOf, minuteOf, usualGrowth } from './usage-growth.ts';

/** Devices pause for minutes together. */
const LEAST_MINUTES = 10;
const LEAST_READINGS = 200;
/** Of the ten minutes before: fewer that grew could be chance. After an hour without one, none is asked for. */
const LEAST_GROWN = 20;
const LONG_MINUTES = 60;

/**
 * @param readPerMinute readings of usage in the last minutes
 * @returns for how many minutes no reading grew, an hour at most; null: readings grow, or whether they should is not known.
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
