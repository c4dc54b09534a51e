// What the HTTP server turns away, counted by reason: every part that refuses adds to it, and metrics.ts reads it. Also who counts
// as one sender: access.ts and connections.ts count by network.
import { isIPv6 } from 'node:net';

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
