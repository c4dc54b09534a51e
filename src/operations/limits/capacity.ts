// Demand of the schedule, capacity of the limits, headroom, and when a backlog is gone. The only definition of these
// numbers for API, command line and doctor. Used by stats.ts and health-reasons.ts. Pure.
//
// Capacity follows Little's law: a limit of n calls of d seconds each allows n / d polls a second. It is computed from
// the limit in force, so it falls when the fleet lowers that limit for a gateway that cannot take more. The rate limits of
// the gateway (pace-share.ts) can allow less.
import { MAX_CONCURRENCY_BOUNDS } from '../../domain/limits/max-concurrency.ts';
import { rounded } from '../../domain/rounded.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { CapacityReport } from './limits-report.ts';

export interface CapacityInputs {
  readonly taskType: TaskType;
  /** Polls a second that the enabled configs need. */
  readonly demandPerSecond: number;
  /** Number of due cards: in the queue, or delayed by a late schedule. */
  readonly owedCards: number;
  /** The configured limit; `effectiveConcurrency` is lower when the gateway cannot take more. */
  readonly maxConcurrency: number;
  readonly effectiveConcurrency: number;
  /** Mean of the last five minutes; null without a poll in them. */
  readonly avgDurationMs: number | null;
  /** Polls a second that the rate limits allow; null without a limit. */
  readonly allowedPerSecond: number | null;
}

export interface Capacity extends CapacityReport {
  /** What would help when the demand exceeds the capacity, so that a backlog never drains; null otherwise. */
  readonly remedy: Remedy | null;
}

export interface Remedy {
  readonly taskType: TaskType;
  /** The smallest sufficient limit; null when no limit is sufficient, because the gateway cannot take more. */
  readonly raiseTo: number | null;
  /** The smallest factor by which the intervals would have to grow instead. */
  readonly intervalFactor: number;
}

/** Advice leaves this share of the capacity free: a limit that just meets the demand never drains a backlog. */
const SPARE_PERCENT = 10;
/** A running schedule always owes the cards that have just become due: no backlog up to this many seconds of demand. */
const ALWAYS_OWED_SECONDS = 1;

export function capacityOf(inputs: CapacityInputs): Capacity {
  const { demandPerSecond: demand, owedCards, avgDurationMs } = inputs;
  if (avgDurationMs === null) {
    const drainSeconds = owedCards === 0 ? 0 : null;
    return {
      demandPerSecond: demand,
      capacityPerSecond: null,
      headroomPercent: null,
      drainSeconds,
      remedy: null,
    };
  }
  const allowed = inputs.allowedPerSecond ?? Number.POSITIVE_INFINITY;
  const capacity = Math.min(perSecond(inputs.effectiveConcurrency, avgDurationMs), allowed);
  const drains = capacity > demand || owedCards === 0;
  return {
    demandPerSecond: demand,
    capacityPerSecond: capacity,
    headroomPercent: (100 * (capacity - demand)) / capacity,
    drainSeconds: drains ? drainSecondsOf(owedCards, demand, capacity) : null,
    remedy: capacity > demand ? null : remedyFor(inputs, avgDurationMs, capacity),
  };
}

/** The remedy in words: `raise realname to 177, or poll realname 1.8 times less often`. */
export function adviceOf({ taskType, raiseTo, intervalFactor }: Remedy): string {
  const lessOften = `poll ${taskType} ${intervalFactor} times less often`;
  return raiseTo === null ? lessOften : `raise ${taskType} to ${raiseTo}, or ${lessOften}`;
}

/** Combines all task types: the headroom of the fullest type, and the drain time of the slowest one. */
export function fleetCapacityOf(types: readonly Capacity[]): CapacityReport {
  const measured = types.flatMap(({ capacityPerSecond }) => capacityPerSecond ?? []);
  const headrooms = types.flatMap(({ headroomPercent }) => headroomPercent ?? []);
  const drains = types.map(({ drainSeconds }) => drainSeconds);
  return {
    demandPerSecond: sum(types.map(({ demandPerSecond }) => demandPerSecond)),
    capacityPerSecond: measured.length === 0 ? null : sum(measured),
    headroomPercent: headrooms.length === 0 ? null : Math.min(...headrooms),
    drainSeconds: drains.includes(null) ? null : Math.max(0, ...drains.map(Number)),
  };
}

/** @returns the numbers rounded for display. */
export function roundedCapacity<Some extends CapacityReport>(capacity: Some): Some {
  const { demandPerSecond, capacityPerSecond, headroomPercent, drainSeconds } = capacity;
  return {
    ...capacity,
    demandPerSecond: rounded(demandPerSecond),
    capacityPerSecond: capacityPerSecond === null ? null : rounded(capacityPerSecond),
    headroomPercent: headroomPercent === null ? null : rounded(headroomPercent),
    drainSeconds: drainSeconds === null ? null : Math.ceil(drainSeconds),
  };
}

function drainSecondsOf(owedCards: number, demand: number, capacity: number): number {
  if (owedCards <= demand * ALWAYS_OWED_SECONDS) return 0;
  return owedCards / (capacity - demand);
}

function remedyFor(inputs: CapacityInputs, avgDurationMs: number, capacity: number): Remedy {
  const { taskType, demandPerSecond, maxConcurrency, effectiveConcurrency, allowedPerSecond } = inputs;
  const wanted = demandPerSecond + (demandPerSecond * SPARE_PERCENT) / 100;
  const needed = Math.ceil((wanted * avgDurationMs) / 1000);
  const isPaced = allowedPerSecond !== null && wanted > allowedPerSecond;
  const allowed = !isPaced && effectiveConcurrency === maxConcurrency && needed <= MAX_CONCURRENCY_BOUNDS.max;
  return {
    taskType,
    raiseTo: allowed ? needed : null,
    intervalFactor: Math.ceil((10 * wanted) / capacity) / 10,
  };
}

function perSecond(concurrency: number, durationMs: number): number {
  // A call takes some time even if the clock measured none.
  return (concurrency * 1000) / Math.max(0.1, durationMs);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
