// What the HTTP server turns away: counts by reason, which every part that refuses adds to and metrics.ts reads, and
// answers with 429 that are held back.
import type { Clock } from '../../platform/clock.ts';

export const REFUSAL_REASONS = [
  'connection_limit',
  'malformed',
  'header_timeout',
  'body_timeout',
  'unauthenticated',
  'refusal_limit',
  'rate_limit',
  'bulkhead',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export class Refusals {
  readonly #counts = new Map<RefusalReason, number>();

  add(reason: RefusalReason): void {
    this.#counts.set(reason, this.count(reason) + 1);
  }

  /** Since the server was opened. */
  count(reason: RefusalReason): number {
    return this.#counts.get(reason) ?? 0;
  }
}

const HOLD_MS = 1_000;
/** Bounds the memory; further ones are answered at once, and their connections closed. */
const MAX_HELD = 1_000;

/**
 * Holds answers with 429 back for a moment: a client that asks again at once, whatever Retry-After says, would otherwise
 * take more of the event loop by being refused than by being served.
 */
export class HeldRefusals {
  #held = 0;

  constructor(private readonly clock: Pick<Clock, 'sleep'>) {}

  /** @returns false: too many are held; close the connection. */
  async hold(): Promise<boolean> {
    if (this.#held >= MAX_HELD) return false;
    this.#held += 1;
    await this.clock.sleep(HOLD_MS);
    this.#held -= 1;
    return true;
  }
}
