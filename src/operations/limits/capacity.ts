// What the schedule asks for and what the limits let through: demand, capacity, headroom, and when a backlog is gone.
// The one definition of these numbers for API, command line and doctor. Used by stats.ts and health-reasons.ts. Pure.
//
// Capacity is Little's law: a limit of n calls that take d seconds each lets n / d polls a second through. It holds for
// the limit in force, so it falls when the fleet has lowered that limit for a gateway that cannot take more.
import { MAX_CONCURRENCY_BOUNDS } from '../../domain/limits/max-concurrency.ts';
import { rounded } from '../../domain/rounded.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { CapacityReport } from './limits-report.ts';

export interface CapacityInputs {
  readonly taskType: TaskType;
  /** Polls a second that the enabled configs ask for. */
  readonly demandPerSecond: number;
  /** Cards whose time has come: those in the queue and those the schedule is late with. */
  readonly owedCards: number;
  /** The configured limit and the one in force, which is lower when the gateway cannot take more. */
  readonly maxConcurrency: number;
  readonly effectiveConcurrency: number;
  /** Mean of the last five minutes; null without a poll in them. */
  readonly avgDurationMs: number | null;
}

export interface Capacity extends CapacityReport {
  /** Where the demand is more than the capacity, so that a backlog never drains: what would help, one or the other. */
  readonly remedy: Remedy | null;
}

export interface Remedy {
  readonly taskType: TaskType;
  /** The smallest limit that lets enough through; null where no limit does, since the gateway takes no more. */
  readonly raiseTo: number | null;
  /** The smallest factor that makes the intervals long enough. */
  readonly intervalFactor: number;
}

/** What is advised leaves this much free: a limit that just meets the demand never drains a backlog. */
const SPARE_PERCENT = 10;
/** A schedule that runs owes what fell due just now. */
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
  const capacity = perSecond(inputs.effectiveConcurrency, avgDurationMs);
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

/** All task types together: the fullest one decides about headroom, the slowest one when the backlog is gone. */
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

/** As it is shown. */
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
  const { taskType, demandPerSecond, maxConcurrency, effectiveConcurrency } = inputs;
  const wanted = demandPerSecond + (demandPerSecond * SPARE_PERCENT) / 100;
  const needed = Math.ceil((wanted * avgDurationMs) / 1000);
  const allowed = effectiveConcurrency === maxConcurrency && needed <= MAX_CONCURRENCY_BOUNDS.max;
  return {
    taskType,
    raiseTo: allowed ? needed : null,
    intervalFactor: Math.ceil((10 * wanted) / capacity) / 10,
  };
}

function perSecond(concurrency: number, durationMs: number): number {
  // A call takes a moment even where the clock saw none.
  return (concurrency * 1000) / Math.max(0.1, durationMs);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
