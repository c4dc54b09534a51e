// The rate limits of a gateway (gateway.rate_limits): how many calls it allows in a time, and how often for one card. Made by the
// configuration; the live store grants calls by them (store/ports/live/pace.ts). Pure.

import type { CardsPerCall, InterfaceName, Offers } from '../gateway-interface.ts';
import { rounded } from '../numbers.ts';
import { countWords } from '../words.ts';

export const RATE_UNIT_SECONDS = { second: 1, minute: 60, hour: 3_600 } as const;
export type RateUnit = keyof typeof RATE_UNIT_SECONDS;

/** The gateway counts at most `calls * time / unit + burst` calls in any time, from all instances together. */
export interface CallRateLimit {
  readonly kind: 'calls';
  /** The interfaces that the limit counts together, in the order of their table; null: all. */
  readonly interfaces: readonly InterfaceName[] | null;
  readonly calls: number;
  readonly unit: RateUnit;
  readonly burst: number;
}

/** One card is polled through these interfaces at most once in this time. */
interface CardRateLimit {
  readonly kind: 'card';
  /** null: all interfaces of the first call of a poll. */
  readonly interfaces: readonly InterfaceName[] | null;
  readonly everySeconds: number;
}

export type RateLimit = CallRateLimit | CardRateLimit;

/** The configured facts about the gateway that are used outside of its client. */
export interface GatewayFacts {
  /** Empty: no limit. */
  readonly rateLimits: readonly RateLimit[];
  readonly offers: Offers;
  readonly cardsPerCall: CardsPerCall;
}

/** Below this rate a burst of 1 costs less than a twentieth of it (bucketOf). */
const SLOW_PER_SECOND = 0.1;
/** Above this rate the burst must cover a moment in which no grants are taken. */
const QUICK_PER_SECOND = 1;
const BURST_SECONDS = 0.4;

/** Two fifths of a second of the rate, at least 4; 2 up to one call a second, 1 up to one in ten seconds. */
export function defaultBurst(perSecond: number): number {
  if (perSecond <= SLOW_PER_SECOND) return 1;
  return perSecond <= QUICK_PER_SECOND ? 2 : Math.max(4, Math.ceil(perSecond * BURST_SECONDS));
}

export function perSecondOf({ calls, unit }: Pick<CallRateLimit, 'calls' | 'unit'>): number {
  return calls / RATE_UNIT_SECONDS[unit];
}

/** Names what a limit counts and its unit, `all/second` or `flow+stop/minute`; two limits with one name are one limit. */
export function rateLimitId({ interfaces, unit }: Pick<CallRateLimit, 'interfaces' | 'unit'>): string {
  return `${interfaces?.join('+') ?? 'all'}/${unit}`;
}

export function countsCalls({ interfaces }: Pick<RateLimit, 'interfaces'>, name: InterfaceName): boolean {
  return interfaces?.includes(name) !== false;
}

/** The limits that count calls, as the live store takes them. */
export function callLimitsOf(limits: readonly RateLimit[]) {
  return limits.flatMap((limit) => {
    if (limit.kind !== 'calls') return [];
    const { interfaces, burst } = limit;
    return { id: rateLimitId(limit), interfaces, perSecond: perSecondOf(limit), burst };
  });
}

/**
 * How long the stop of a card may take after its reading, seconds: it needs a status and a stop, and another call may have come
 * just before (docs/decisions/0036-pace.md). For one card: others that are over at the same time wait longer.
 */
export function stopWithinSeconds(
  limits: ReadonlyArray<Pick<CallRateLimit, 'interfaces'> & { perSecond: number }>,
): number {
  const waits = limits.map((limit) => {
    const needed = (['card_status', 'stop'] as const).filter((name) => countsCalls(limit, name)).length;
    return needed === 0 ? 0 : (needed + 1) / limit.perSecond;
  });
  return Math.max(0, ...waits);
}

/** @returns the shortest interval that the gateway allows for polls whose first call is to this interface; 0 without a limit. */
export function leastIntervalSeconds(limits: readonly RateLimit[], name: InterfaceName): number {
  const counted = limits.flatMap((limit) =>
    limit.kind === 'card' && countsCalls(limit, name) ? limit.everySeconds : [],
  );
  return Math.max(0, ...counted);
}

/** Combines two limits of one name: the stricter rate and the stricter burst. */
export function stricterOf(a: CallRateLimit, b: CallRateLimit): CallRateLimit {
  return { ...a, calls: Math.min(a.calls, b.calls), burst: Math.min(a.burst, b.burst) };
}

/** `50 calls a second (flow), burst 10`. */
export function rateLimitWords(limit: RateLimit): string {
  const which = limit.interfaces === null ? '' : ` (${limit.interfaces.join(', ')})`;
  if (limit.kind === 'card') return `one poll of a card${which} every ${limit.everySeconds} s`;
  const { calls, unit, burst } = limit;
  return `${countWords(calls, 'call', 'calls', String)} ${eachWords(unit)}${which}, burst ${burst}`;
}

/** The shortest unit in which a rate is 1 or more: a few calls an hour would be rounded to 0 a second. */
export function unitOf(perSecond: number): RateUnit {
  const units = Object.keys(RATE_UNIT_SECONDS) as RateUnit[];
  return units.find((unit) => callsIn(unit, perSecond) >= 1) ?? 'hour';
}

/** @returns calls in that time, rounded for display. */
export function callsIn(unit: RateUnit, perSecond: number): number {
  return rounded(perSecond * RATE_UNIT_SECONDS[unit]);
}

/** `a second`, `an hour`. */
export function eachWords(unit: RateUnit): string {
  return `${unit === 'hour' ? 'an' : 'a'} ${unit}`;
}

/** `50 a second`, `10 an hour`. */
export function rateWords(perSecond: number): string {
  const unit = unitOf(perSecond);
  return `${callsIn(unit, perSecond)} ${eachWords(unit)}`;
}

/** How the live store grants the calls of one limit. */
export interface PaceBucket {
  /** Grants that become due in a millisecond. */
  readonly perMs: number;
  /** Most grants that can be due at once. */
  readonly capacity: number;
  /** A grant is used within this time or not at all, milliseconds. */
  readonly lifeMs: number;
}

const LIFE_MS = { min: 100, max: 500 } as const;
const CAPACITY_SHARE = 1 / 3;

/**
 * Divides the burst that the gateway allows. A third is the capacity: grants that may be due at once. The rest is for grants that
 * are used up to `lifeMs` late, so that the gateway sees them closer together than they were granted. If the burst is too small
 * for that, grants become due a little later. So the gateway counts at most rate x time + burst, whenever the grants are used:
 * docs/decisions/0036-pace.md. pace-take.lua has the same arithmetic.
 */
export function bucketOf({ perSecond, burst }: { perSecond: number; burst: number }): PaceBucket {
  const rate = perSecond / 1_000;
  const share = Math.ceil(burst * CAPACITY_SHARE);
  const lifeMs = Math.min(LIFE_MS.max, Math.max(LIFE_MS.min, (burst - share) / rate));
  const capacity = Math.max(1, Math.floor(burst - rate * lifeMs + 1e-9));
  return { perMs: Math.min(rate, (1 + burst - capacity) / (1 / rate + lifeMs)), capacity, lifeMs };
}
