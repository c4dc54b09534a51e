// The polls of each carrier: how many ended and failed, and how long the others took. Counted by the engine, kept by the live store.
// Finds the carriers that fail far more, or take far longer, than the rest of the fleet: for the failure list, the health reasons and
// explain. Pure.
import { percentDown, sum } from '../numbers.ts';
import type { PollWindow } from '../stats/task-metrics.ts';
import { isSlow, USUAL_FROM_SECONDS, type UsualLatency } from '../stats/usual-latency.ts';

export interface CarrierPolls {
  readonly polls: number;
  readonly failed: number;
  /** The durations of the succeeded ones, milliseconds; absent where an older version counted. */
  readonly succeededMs?: number;
}

export type PollsByCarrier = ReadonlyMap<number, CarrierPolls>;

/** @param most maximum number of carriers; the polls of further ones are left out. */
export function sumOfCarriers(
  all: readonly PollsByCarrier[],
  most = Number.POSITIVE_INFINITY,
): PollsByCarrier {
  const total = new Map<number, CarrierPolls>();
  for (const carriers of all) {
    for (const [carrierId, own] of carriers) {
      const before = total.get(carrierId);
      if (before === undefined && total.size >= most) continue;
      total.set(carrierId, before === undefined ? own : added(before, own));
    }
  }
  return total;
}

function added(one: CarrierPolls, other: CarrierPolls): CarrierPolls {
  const succeededMs = (one.succeededMs ?? 0) + (other.succeededMs ?? 0);
  return {
    polls: one.polls + other.polls,
    failed: one.failed + other.failed,
    ...(succeededMs === 0 ? {} : { succeededMs }),
  };
}

export interface FailingCarrier extends Pick<CarrierPolls, 'polls' | 'failed'> {
  readonly carrierId: number;
  /** Share of the carrier's polls. */
  readonly failedPercent: number;
}

/** With fewer polls the share may be chance. */
const LEAST_POLLS = 20;
const LEAST_FAILED_PERCENT = 20;
/** Ratio of the carrier's share to the share of the rest. */
const LEAST_RATIO = 2;
/** The other carriers are as fast as usual up to so many times the usual mean. */
const AS_USUAL = 1.5;

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

export interface SlowCarrier {
  readonly carrierId: number;
  /** Mean of its succeeded polls, and of those of all other carriers, milliseconds. */
  readonly meanMs: number;
  readonly restMs: number;
}

/**
 * The carriers that are slow while the others are as fast as usual, the slowest first. None when one carrier has all polls.
 * @param usual what calls of the task type usually take; null: not known.
 */
export function slowCarriersOf(
  {
    succeeded,
    succeededMs,
    carriers,
  }: Pick<PollWindow, 'succeeded' | 'succeededMs'> & {
    readonly carriers: PollsByCarrier;
  },
  usual: UsualLatency | null,
): SlowCarrier[] {
  if (usual === null || usual.seconds < USUAL_FROM_SECONDS) return [];
  const means = [...carriers].flatMap(([carrierId, own]) => {
    const polls = own.polls - own.failed;
    return polls < LEAST_POLLS ? [] : [{ carrierId, polls, ms: own.succeededMs ?? 0 }];
  });
  const slow = means.filter(({ polls, ms }) => isSlow(ms / polls, usual.meanMs));
  const restPolls = succeeded - sum(slow.map(({ polls }) => polls));
  const restMs = (succeededMs - sum(slow.map(({ ms }) => ms))) / restPolls;
  if (restPolls < LEAST_POLLS || restMs >= AS_USUAL * usual.meanMs) return [];
  return slow
    .map(({ carrierId, polls, ms }) => ({ carrierId, meanMs: ms / polls, restMs }))
    .sort((a, b) => b.meanMs - a.meanMs);
}

/** `carrier 7: 96 % of the polls fail`. */
export function carrierWords({ carrierId, failedPercent }: FailingCarrier): string {
  return `carrier ${carrierId}: ${percentDown(failedPercent, 1)} % of the polls fail`;
}

function worstFirst(a: FailingCarrier, b: FailingCarrier): number {
  const judgeable = Number(b.polls >= LEAST_POLLS) - Number(a.polls >= LEAST_POLLS);
  return judgeable || b.failedPercent - a.failedPercent || b.failed - a.failed || a.carrierId - b.carrierId;
}
