// What the HTTP server turns away: counts by reason, which every part that refuses adds to and metrics.ts reads; and how many
// refused requests an address may send.
import { isIPv6 } from 'node:net';
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

const WINDOW_MS = 60_000;
/** Addresses counted apart in a window; further ones share one budget, so that no flood of addresses fills the memory. */
const MAX_ADDRESSES = 10_000;
const ALL_OTHERS = '';

/**
 * How many refused requests an address may send a minute: without a valid token, to what a token may not do, to paths that
 * do not exist. Used by access.ts. Beyond it refusals become 429, which reveals nothing about the request; a caller with a
 * valid token is still let in, whatever others at its address do.
 */
export class RefusalBudget {
  #spent = new Map<string, number>();
  #windowEndsMs = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** @param limit 0: any number. @returns seconds until the address may try again; null: it may go on. */
  spend(address: string, limit: number): number | null {
    const nowMs = this.clock.monotonic();
    if (nowMs >= this.#windowEndsMs) {
      this.#spent = new Map();
      this.#windowEndsMs = nowMs + WINDOW_MS;
    }
    const network = networkOf(address);
    const key = this.#spent.has(network) || this.#spent.size < MAX_ADDRESSES ? network : ALL_OTHERS;
    const spent = (this.#spent.get(key) ?? 0) + 1;
    this.#spent.set(key, spent);
    return limit > 0 && spent > limit ? Math.ceil((this.#windowEndsMs - nowMs) / 1_000) : null;
  }
}

/** Who has one IPv6 address has the other 2^64 of its network too. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  // `::` means zeros; the tail matters if the head is shorter than the network part.
  const behind = tail === undefined ? [] : tail.split(':');
  const zeros = Array(Math.max(0, 8 - groups.length - behind.length)).fill('0');
  return [...groups, ...zeros, ...behind].slice(0, 4).join(':');
}
