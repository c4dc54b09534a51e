// Polls by task type and carrier in slots of ten minutes, for two days: how many ended, how many failed, and how many of those that came
// from the schedule began too late. Counted by the engine, kept by the live store; for "on schedule" and the failures of a time. Pure.
import { percentDown } from '../numbers.ts';

export const CARRIER_SLOT_SECONDS = 600;
/** Two days. */
export const CARRIER_SLOTS_KEPT = 288;
/** A slot names so many carriers (the first that come); the polls of further ones are counted together. */
export const SLOT_CARRIERS_MAX = 50;

export const CARRIER_COUNTS = ['polls', 'failed', 'timed', 'late'] as const;
/** `timed`: polls of the schedule whose begin was timed; `late`: those of them that began late. */
export type CarrierCounts = Readonly<Record<(typeof CARRIER_COUNTS)[number], number>>;

/** null: carriers that a slot does not name. */
export type CountsByCarrier = ReadonlyMap<number | null, CarrierCounts>;
/** By the index of the slot since the epoch. */
export type CarrierSlots = ReadonlyMap<number, CountsByCarrier>;

export function carrierSlotAt(atMs: number): number {
  return Math.floor(atMs / 1000 / CARRIER_SLOT_SECONDS);
}

/** When it begins, epoch milliseconds. */
export function startOfCarrierSlot(slot: number): number {
  return slot * CARRIER_SLOT_SECONDS * 1000;
}

/** The slots of a time that are kept, the first first. */
export function keptSlotsWithin(fromMs: number, toMs: number, nowMs: number): number[] {
  const last = Math.min(carrierSlotAt(toMs), carrierSlotAt(nowMs));
  const first = Math.max(carrierSlotAt(fromMs), carrierSlotAt(nowMs) - CARRIER_SLOTS_KEPT + 1);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}

/** Adds counts up to `most` named carriers, further ones together. */
export function addCounts(
  sum: Map<number | null, CarrierCounts>,
  counts: Iterable<readonly [number | null, Partial<CarrierCounts>]>,
  most = SLOT_CARRIERS_MAX,
): void {
  for (const [carrierId, added] of counts) {
    const isNamed = sum.has(carrierId) || sum.size - Number(sum.has(null)) < most;
    const key = isNamed ? carrierId : null;
    const { polls = 0, failed = 0, timed = 0, late = 0 } = added;
    const before = sum.get(key) ?? { polls: 0, failed: 0, timed: 0, late: 0 };
    sum.set(key, {
      polls: before.polls + polls,
      failed: before.failed + failed,
      timed: before.timed + timed,
      late: before.late + late,
    });
  }
}

export function sumOfSlotCounts(slots: Iterable<CountsByCarrier>): Map<number | null, CarrierCounts> {
  const sum = new Map<number | null, CarrierCounts>();
  for (const counts of slots) addCounts(sum, counts, Number.POSITIVE_INFINITY);
  return sum;
}

/** A tenth of the interval may pass, and ten seconds always. */
const LATE = { share: 0.1, leastMs: 10_000 };

/** THE rule: whether a poll is late that begins so long after its ring made it due. */
export function isLatePoll(lateMs: number, intervalMs: number): boolean {
  return lateMs > Math.max(LATE.leastMs, LATE.share * intervalMs);
}

/** With fewer polls the share of a carrier may be chance. */
const LEAST_POLLS = 20;

interface Punctuality {
  /** On time, in percent; not 100 unless all were. */
  readonly percent: number;
  readonly polls: number;
  readonly late: number;
  /** The carrier with the lowest share; null: there is one carrier alone, or none was late. */
  readonly worst: { readonly carrierId: number; readonly percent: number } | null;
}

/** @returns null: nothing was timed. */
export function punctualityOf(counts: CountsByCarrier): Punctuality | null {
  const all = [...counts.values()];
  const [polls, late] = [all.reduce((n, { timed }) => n + timed, 0), all.reduce((n, one) => n + one.late, 0)];
  if (polls === 0) return null;
  const carriers = [...counts].flatMap(([carrierId, one]) =>
    carrierId === null || one.timed < LEAST_POLLS ? [] : [{ carrierId, percent: onTimePercent(one) }],
  );
  const [worst = null] = carriers.sort((a, b) => a.percent - b.percent || a.carrierId - b.carrierId);
  const isOther = counts.size > 1 && worst !== null && worst.percent < 100;
  return { percent: onTimePercent({ timed: polls, late }), polls, late, worst: isOther ? worst : null };
}

function onTimePercent({ timed, late }: Pick<CarrierCounts, 'timed' | 'late'>): number {
  return percentDown((100 * (timed - late)) / timed, 1);
}
