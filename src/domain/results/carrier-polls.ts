// The number of polls of each carrier that ended and that failed: counted by the engine, kept by the live store. Finds the
// carriers with failures, and those that fail far more than the rest of the fleet: for the failure list, the health reasons
// and explain. Pure.
import { percentDown } from '../numbers.ts';
import type { PollWindow } from '../stats/task-metrics.ts';

export interface CarrierPolls {
  readonly polls: number;
  readonly failed: number;
}

export type PollsByCarrier = ReadonlyMap<number, CarrierPolls>;

/** @param most maximum number of carriers; the polls of further ones are left out. */
export function sumOfCarriers(
  all: readonly PollsByCarrier[],
  most = Number.POSITIVE_INFINITY,
): PollsByCarrier {
  const sum = new Map<number, CarrierPolls>();
  for (const carriers of all) {
    for (const [carrierId, { polls, failed }] of carriers) {
      const before = sum.get(carrierId);
      if (before === undefined && sum.size >= most) continue;
      sum.set(carrierId, { polls: (before?.polls ?? 0) + polls, failed: (before?.failed ?? 0) + failed });
    }
  }
  return sum;
}

export interface FailingCarrier extends CarrierPolls {
  readonly carrierId: number;
  /** Share of the carrier's polls. */
  readonly failedPercent: number;
}

/** With fewer polls the share may be chance. */
const LEAST_POLLS = 20;
const LEAST_FAILED_PERCENT = 20;
/** Ratio of the carrier's share to the share of the rest. */
const LEAST_RATIO = 2;

/** The carriers with failures, the highest share first; carriers with few polls come last. */
export function failingCarriersOf(carriers: PollsByCarrier): FailingCarrier[] {
  return [...carriers]
    .filter(([, { failed }]) => failed > 0)
    .map(([carrierId, { polls, failed }]) => ({
      carrierId,
      polls,
      failed,
      failedPercent: (100 * failed) / polls,
    }))
    .sort(worstFirst);
}

/** The carriers that fail far more than the rest of the fleet, the worst first. None when one carrier has all polls. */
export function outlyingCarriersOf(
  window: Pick<PollWindow, 'succeeded' | 'failed'> & { readonly carriers: PollsByCarrier },
): FailingCarrier[] {
  const fleetPolls = window.succeeded + window.failed;
  return failingCarriersOf(window.carriers).filter(({ polls, failed, failedPercent }) => {
    const restPolls = fleetPolls - polls;
    if (polls < LEAST_POLLS || failedPercent < LEAST_FAILED_PERCENT || restPolls === 0) return false;
    return failed * restPolls >= LEAST_RATIO * (window.failed - failed) * polls;
  });
}

/** `carrier 7: 96 % fail`. */
export function carrierWords({ carrierId, failedPercent }: FailingCarrier): string {
  return `carrier ${carrierId}: ${percentDown(failedPercent, 1)} % fail`;
}

function worstFirst(a: FailingCarrier, b: FailingCarrier): number {
  const judgeable = Number(b.polls >= LEAST_POLLS) - Number(a.polls >= LEAST_POLLS);
  return judgeable || b.failedPercent - a.failedPercent || b.failed - a.failed || a.carrierId - b.carrierId;
}
