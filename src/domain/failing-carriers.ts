// Which carriers fail, and how much of their polls. Used by the failures. Pure.
import type { CarrierPolls, PollsByCarrier } from './carrier-polls.ts';

export interface FailingCarrier extends CarrierPolls {
  readonly carrierId: number;
  /** Of its polls. */
  readonly failedPercent: number;
}

/** The share of fewer polls is chance. */
const LEAST_POLLS = 20;

/** Those with failures, the highest share first; carriers with few polls come last. */
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

function worstFirst(a: FailingCarrier, b: FailingCarrier): number {
  const judgeable = Number(b.polls >= LEAST_POLLS) - Number(a.polls >= LEAST_POLLS);
  return judgeable || b.failedPercent - a.failedPercent || b.failed - a.failed || a.carrierId - b.carrierId;
}
