// Counts what the HTTP server turns away, by reason. Every part that refuses counts here; metrics.ts reads it.

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
