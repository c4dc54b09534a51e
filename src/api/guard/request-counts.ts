// Counts the requests of the current minute, as the store of @fastify/rate-limit. Its own store reads the wall clock: after a
// step back of an hour, callers at their limit would be refused for an hour. Used by access.ts.
import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import type { Clock } from '../../platform/clock.ts';

export const WINDOW_MS = 60_000;
/** Most keys that are counted. Further ones replace the longest silent ones, so that no flood of addresses fills the memory. */
const MAX_KEYS = 10_000;

export class RequestCounts implements FastifyRateLimitStore {
  /** The longest silent key first. */
  readonly #counts = new Map<string, { readonly current: number; readonly sinceMs: number }>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  incr(key: string, done: (error: null, count: { current: number; ttl: number }) => void): void {
    const nowMs = this.clock.monotonic();
    const { current, sinceMs } = this.#counts.get(key) ?? { current: 0, sinceMs: nowMs };
    const isOver = nowMs - sinceMs >= WINDOW_MS;
    const count = isOver ? { current: 1, sinceMs: nowMs } : { current: current + 1, sinceMs };
    this.#counts.delete(key);
    this.#counts.set(key, count);
    const [longestSilent = key] = this.#counts.keys();
    if (this.#counts.size > MAX_KEYS) this.#counts.delete(longestSilent);
    done(null, { current: count.current, ttl: WINDOW_MS - (nowMs - count.sinceMs) });
  }

  /** @returns the store of another limit. */
  child(): RequestCounts {
    return new RequestCounts(this.clock);
  }
}
