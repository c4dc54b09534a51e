// The difference between the clocks of Redis and PostgreSQL. Redis dates schedule and leases; PostgreSQL dates readings
// when the clocks differ. Used by operations.ts for the health of the fleet.
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { spanWords } from '../span-words.ts';

export interface ClockGap {
  readonly liveMs: number;
  readonly recordsMs: number;
  /** The live store's clock minus the record store's, at least; 0 while they may agree. */
  readonly aheadMs: number;
}

/** Smaller differences are harmless; above an hour an instance of release 0.2.0 counts usage in wrong months. */
export const CLOCK_GAP_MS = { warningAbove: 10_000, alertAbove: 3_600_000 };

/** @returns null for an embedded live store, which has no clock of its own. */
export async function clockGapOf(
  live: Pick<LiveStore, 'now' | 'kind'>,
  records: Pick<RecordStore, 'now'>,
): Promise<ClockGap | null> {
  if (live.kind === 'embedded') return null;
  // Redis is asked before and after PostgreSQL, so that a slow answer does not look like a gap.
  const liveMs = await live.now();
  const recordsMs = await records.now();
  const aheadMs = Math.max(0, liveMs - recordsMs) + Math.min(0, (await live.now()) - recordsMs);
  return { liveMs, recordsMs, aheadMs };
}

export function gapWords({ liveMs, recordsMs, aheadMs }: ClockGap): string {
  const span = `${spanWords(Math.abs(aheadMs) / 1000)} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  return (
    `the clock of Redis (${new Date(liveMs).toISOString()}) is ${span} that of PostgreSQL ` +
    `(${new Date(recordsMs).toISOString()}): readings are dated by PostgreSQL, all else by Redis`
  );
}
