// Demand of the schedule, capacity of the limits, headroom, and the time until a backlog is gone. The only definition of these
// numbers for API, command line and doctor; advisor.ts has the remedies. Used by the judge, statistics and the doctor. Pure.
//
// Capacity follows Little's law: a limit of n calls of d seconds each allows n / d polls a second. It is computed from the limit
// in force, so it falls when the fleet lowers that limit for an overloaded gateway. The rate limits of the gateway can allow
// less: the second half of this file computes the part that they leave to a task type. Types that need less than their equal
// share leave the rest to the others, in the same way as the live store grants calls.
import type { CardsPerCall } from '../domain/gateway-interface.ts';
import { callsIn, countsCalls, eachWords, rateWords, unitOf } from '../domain/limits/rate-limit.ts';
import { percentDown, rounded, sum } from '../domain/numbers.ts';
import type { TaskType } from '../domain/task-type.ts';
import { TASK_TYPES, TASKS } from '../domain/task-type.ts';
import { countWords, spanWords } from '../domain/words.ts';
import type { PaceLimit, PaceState } from '../store/ports/live/pace.ts';

export interface CapacityInputs {
  /** Polls a second that the enabled configs need. */
  readonly demandPerSecond: number;
  /** Number of due cards: in the queue, or delayed by a late schedule. */
  readonly owedCards: number;
  /** The limit in force. */
  readonly effectiveConcurrency: number;
  /** Duration of a poll, see callMsOf; null: unknown. */
  readonly callMs: number | null;
  /** The cause that holds polling back; null: none. Meanwhile the few calls that are made do not show the capacity. */
  readonly heldBy: string | null;
  /** Polls a second that the rate limits allow; null without a limit. */
  readonly allowedPerSecond: number | null;
}

/** resources/limits.ts documents the fields. */
export interface Capacity {
  readonly demandPerSecond: number;
  readonly capacityPerSecond: number | null;
  readonly boundBy: 'concurrency' | 'rate_limits' | null;
  readonly headroomPercent: number | null;
  readonly drainSeconds: number | null;
  readonly heldBy: string | null;
}

/** A running schedule always owes the cards that have just become due: up to this many seconds of demand are no backlog. */
const ALWAYS_OWED_SECONDS = 1;

export function capacityOf(inputs: CapacityInputs): Capacity {
  const { demandPerSecond: demand, owedCards, callMs, heldBy } = inputs;
  if (callMs === null || heldBy !== null) return unknownCapacity(inputs);
  const allowed = inputs.allowedPerSecond ?? Number.POSITIVE_INFINITY;
  const byConcurrency = perSecond(inputs.effectiveConcurrency, callMs);
  const capacity = Math.min(byConcurrency, allowed);
  const drains = capacity > demand || owedCards === 0;
  return {
    demandPerSecond: demand,
    capacityPerSecond: capacity,
    boundBy: allowed < byConcurrency ? 'rate_limits' : 'concurrency',
    headroomPercent: (100 * (capacity - demand)) / capacity,
    drainSeconds: drains ? drainSecondsOf(owedCards, demand, capacity) : null,
    heldBy: null,
  };
}

function unknownCapacity({ demandPerSecond, owedCards, heldBy }: CapacityInputs): Capacity {
  return {
    demandPerSecond,
    capacityPerSecond: null,
    boundBy: null,
    headroomPercent: null,
    // Cards that wait for a retry are not owed, so zero owed cards prove nothing while polling is held back.
    drainSeconds: owedCards === 0 && heldBy === null ? 0 : null,
    heldBy,
  };
}

interface TypeCapacity {
  readonly taskType: TaskType;
  readonly capacity: Capacity;
}

/**
 * Combines all task types: the headroom of the fullest type, and the drain time of the slowest one. While one is held back, the
 * capacity of the fleet is unknown.
 * @param limits in force.
 */
export function fleetCapacityOf(
  types: readonly TypeCapacity[],
  limits: readonly PaceLimit[],
  cardsPerCallOf: CardsPerCall,
) {
  const capacities = types.map(({ capacity }) => capacity);
  const isMeasured = capacities.some(({ capacityPerSecond }) => capacityPerSecond !== null);
  const drains = capacities.map(({ drainSeconds }) => drainSeconds);
  const heldBy = heldWords(types);
  const isKnown = heldBy === null && isMeasured;
  const fullest = isKnown ? fullestOf(types) : null;
  return {
    demandPerSecond: sum(capacities.map(({ demandPerSecond }) => demandPerSecond)),
    capacityPerSecond: isKnown ? togetherPerSecond(types, limits, cardsPerCallOf) : null,
    boundBy: fullest?.capacity.boundBy ?? null,
    headroomPercent: fullest?.capacity.headroomPercent ?? null,
    headroomTaskType: fullest?.taskType ?? null,
    drainSeconds: drains.includes(null) ? null : Math.max(0, ...drains.map(Number)),
    heldBy,
  };
}

/**
 * Polls a second of all types together. The spare part of a rate limit counts in the capacity of every type, but only one of them
 * can use it: it is divided here.
 */
function togetherPerSecond(
  types: readonly TypeCapacity[],
  limits: readonly PaceLimit[],
  cardsPerCallOf: CardsPerCall,
): number {
  const parts = types.map(({ taskType, capacity: { capacityPerSecond, demandPerSecond } }) => {
    const used = Math.min(demandPerSecond, capacityPerSecond ?? 0);
    return { name: TASKS[taskType].interface, used, spare: (capacityPerSecond ?? 0) - used };
  });
  const shares = limits.map((limit) => {
    const counted = parts.filter(({ name }) => countsCalls(limit, name));
    const calls = (which: 'used' | 'spare') =>
      sum(counted.map((part) => part[which] / cardsPerCallOf(part.name)));
    return { limit, share: Math.max(0, limit.perSecond - calls('used')) / calls('spare') };
  });
  return sum(
    parts.map(({ name, used, spare }) => {
      const counting = shares.filter(({ limit }) => countsCalls(limit, name));
      return spare === 0 ? used : used + spare * Math.min(1, ...counting.map(({ share }) => share));
    }),
  );
}

function fullestOf(types: readonly TypeCapacity[]): TypeCapacity | null {
  const [fullest = null] = types
    .filter(({ capacity }) => capacity.headroomPercent !== null)
    .sort((a, b) => Number(a.capacity.headroomPercent) - Number(b.capacity.headroomPercent));
  return fullest;
}

/** `the gateway is dead`, or `realname: interface realname is dead; package: polling is paused`. */
function heldWords(types: readonly TypeCapacity[]): string | null {
  const held = types.filter(({ capacity }) => capacity.heldBy !== null);
  const [first, ...others] = new Set(held.map(({ capacity }) => capacity.heldBy));
  if (first === undefined) return null;
  if (held.length === types.length && others.length === 0) return first;
  return held.map(({ taskType, capacity }) => `${taskType}: ${capacity.heldBy}`).join('; ');
}

/** @returns the numbers rounded for display. */
export function roundedCapacity<Some extends Capacity>(capacity: Some): Some {
  const { demandPerSecond, capacityPerSecond, headroomPercent, drainSeconds } = capacity;
  return {
    ...capacity,
    demandPerSecond: rounded(demandPerSecond),
    capacityPerSecond: capacityPerSecond === null ? null : rounded(capacityPerSecond),
    headroomPercent: headroomPercent === null ? null : percentDown(headroomPercent),
    drainSeconds: drainSeconds === null ? null : Math.ceil(drainSeconds),
  };
}

function drainSecondsOf(owedCards: number, demand: number, capacity: number): number {
  if (owedCards <= demand * ALWAYS_OWED_SECONDS) return 0;
  return owedCards / (capacity - demand);
}

function perSecond(concurrency: number, durationMs: number): number {
  // A call takes some time even if the clock measured none.
  return (concurrency * 1000) / Math.max(0.1, durationMs);
}

interface PaceShare {
  /** Polls a second at most. */
  readonly perSecond: number;
  /** Polls that one call makes at most: a limit counts calls, a schedule needs polls. */
  readonly cardsPerCall: number;
  /** Calls that the limit allows in a second for everything that it counts. */
  readonly ofPerSecond: number;
}

/** @returns the share by the tightest limit; null when no limit counts the polls of this type. */
export function paceShareOf(
  taskType: TaskType,
  limits: readonly PaceLimit[],
  demandPerSecond: Readonly<Record<TaskType, number>>,
  cardsPerCallOf: CardsPerCall,
): PaceShare | null {
  const cardsOf = (one: TaskType) => cardsPerCallOf(TASKS[one].interface);
  const cardsPerCall = cardsOf(taskType);
  const shares = limits.flatMap((limit) => {
    const { perSecond } = limit;
    const counted = TASK_TYPES.filter((one) => countsCalls(limit, TASKS[one].interface));
    if (!counted.includes(taskType)) return [];
    const others = counted.filter((one) => one !== taskType);
    const calls = levelOf(
      perSecond,
      others.map((one) => demandPerSecond[one] / cardsOf(one)),
    );
    return { perSecond: calls * cardsPerCall, cardsPerCall, ofPerSecond: perSecond };
  });
  return shares.reduce<PaceShare | null>(
    (least, share) => (least === null || share.perSecond < least.perSecond ? share : least),
    null,
  );
}

/** The facts that decide whether the rate limits are high enough for a task type. */
export interface PaceNeed {
  /** Polls a second that the enabled configs need. */
  readonly demandPerSecond: number;
  /** null without a limit. */
  readonly paceShare: PaceShare | null;
  /** Configured interval of the ring that is furthest behind; null without an enabled ring. */
  readonly intervalSeconds: number | null;
}

/** @returns null while the rate limits cover the demand of the schedule. */
export function paceShortText({ demandPerSecond, paceShare, intervalSeconds }: PaceNeed): string | null {
  if (paceShare === null || intervalSeconds === null || demandPerSecond <= paceShare.perSecond) return null;
  return `the rate limits are too low: ${paceShortWords(paceShare, demandPerSecond, intervalSeconds)}`;
}

/** `5 of 50 calls a second allow 1,000,000 cards every 14 h, not every 30 min`. */
export function paceShortWords(share: PaceShare, demandPerSecond: number, intervalSeconds: number): string {
  const { perSecond, cardsPerCall, ofPerSecond } = share;
  const calls = perSecond / cardsPerCall;
  const size = cardsPerCall === 1 ? '' : ` (${cardsPerCall} cards each)`;
  const unit = unitOf(calls);
  const whole = calls < ofPerSecond ? ` of ${callsIn(unit, ofPerSecond)}` : '';
  const cards = countWords(Math.round(demandPerSecond * intervalSeconds), 'card');
  const every = spanWords((intervalSeconds * demandPerSecond) / perSecond);
  return `${callsIn(unit, calls)}${whole} calls ${eachWords(unit)}${size} allow ${cards} every ${every}, not every ${spanWords(intervalSeconds)}`;
}

/** `calls wait for the rate limit of 50 a second`; null while polls of the type wait for none. */
export function awaitedWords(states: readonly PaceState[], taskType: TaskType): string | null {
  const awaited = states
    .filter(({ waiting }) => waiting.includes(taskType))
    .map(({ perSecond }) => perSecond);
  if (awaited.length === 0) return null;
  return `calls wait for the rate limit of ${rateWords(Math.min(...awaited))}`;
}

/** The share of `total` that a participant with unlimited demand gets next to the others. */
function levelOf(total: number, others: readonly number[]): number {
  let left = total;
  let sharing = others.length + 1;
  for (const demand of [...others].sort((a, b) => a - b)) {
    if (demand > left / sharing) break;
    left -= demand;
    sharing -= 1;
  }
  return left / sharing;
}
