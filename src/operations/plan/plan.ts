// The requirements of a fleet of another size, or with other intervals: THE computation of `cardpoll plan`. It uses only
// measurements, and reports everything else as unknown. Used by plans.ts, which reads the facts. Pure.
//
// A limit follows from Little's law, as the advisor computes it (src/health/advisor.ts). It assumes that calls do not become
// slower when there are more of them, and the report says so.
import type { CardsPerCall } from '../../domain/gateway-interface.ts';
import { MAX_CONCURRENCY_BOUNDS } from '../../domain/limits/operator-limits.ts';
import { countsCalls, rateWords } from '../../domain/limits/rate-limit.ts';
import { rounded, roundedOrNull, sum } from '../../domain/numbers.ts';
import { isBusy } from '../../domain/stats/own-side.ts';
import { perTaskType, TASKS, type TaskType } from '../../domain/task-type.ts';
import { byteWords, countWords, grouped, span } from '../../domain/words.ts';
import { concurrencyFor } from '../../health/advisor.ts';
import { paceShareOf } from '../../health/capacity.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { PlanReport } from '../../resources/plan.ts';
import type { PaceLimit } from '../../store/ports/live/pace.ts';
import { bytesACardOn, isTooFull } from '../doctor/live-store.ts';

/** Bounds of the number of cards, existing and planned ones together. */
export const PLANNED_CARDS_BOUNDS = { min: 0, max: 1_000_000_000 } as const;

export interface PlannedTask {
  readonly taskType: TaskType;
  readonly offered: boolean;
  /** The enabled configs; members null: the ring is not built. */
  readonly configs: ReadonlyArray<{
    readonly id: number;
    readonly intervalSeconds: number;
    readonly members: number | null;
  }>;
  /** Duration of a poll, over the last seconds and over the last day with polls; null: not measured. */
  readonly callMs: number | null;
  readonly usualMs: number | null;
  readonly maxConcurrency: number;
  readonly effectiveConcurrency: number;
  /** Successful polls a second in the best minute of the last hour; null: not measured. */
  readonly bestPerSecond: number | null;
  /** Shortest interval that the gateway allows for one card; 0: no limit. */
  readonly leastIntervalSeconds: number;
}

export interface PlanFacts {
  readonly atMs: number;
  readonly cards: number;
  readonly tasks: readonly PlannedTask[];
  readonly limits: readonly PaceLimit[];
  readonly cardsPerCall: CardsPerCall;
  /** gateway.max_concurrency; null: no ceiling. */
  readonly ceiling: number | null;
  /** The number of servers, and the fullest one. */
  readonly redis: {
    readonly servers: number;
    readonly usedBytes: number | null;
    readonly limitBytes: number | null;
  };
  /** null: unknown. */
  readonly databaseBytes: number | null;
  /** Live instances that poll. */
  readonly workers: ReadonlyArray<{ readonly cpuPercent: number | null }>;
  /** As for a task type, for the whole fleet in one minute. */
  readonly bestPerSecond: number | null;
  /** Polls of the whole fleet, over the last five minutes. */
  readonly polledPerSecond: number;
}

export interface PlanRequest {
  /** The number of all cards, or its change; both null: unchanged. */
  readonly cards: number | null;
  readonly add: number | null;
  readonly intervals: ReadonlyArray<{ readonly taskType: TaskType; readonly seconds: number }>;
}

/** In a smaller database the empty tables outweigh the cards. */
const LEAST_CARDS_MEASURED = 10_000;

/** Even a fleet that keeps up polls a little less than it needs in some minutes, and some polls fail. */
const NEARLY = 1.1;

interface Findings {
  readonly needs: string[];
  /** Facts that leave the verdict open. */
  readonly open: string[];
  readonly notKnown: string[];
}

/** @throws CardpollError `invalid` for a number of cards out of bounds. */
export function planOf(facts: PlanFacts, request: PlanRequest): PlanReport {
  const cards = plannedCards(facts.cards, request);
  const factor = cards === facts.cards ? 1 : facts.cards === 0 ? null : cards / facts.cards;
  const found: Findings = { needs: [], open: [], notKnown: [] };
  const demands = facts.tasks.map((task) => demandOf(task, request, cards === 0 ? 0 : factor));
  if (factor === null && cards > 0)
    found.open.push('the fleet has no cards, so their mix of carriers and configs is not known');
  const planned = perTaskType((one) => demands.find(({ taskType }) => taskType === one)?.planned ?? 0);
  const tasks = demands.map((demand) => planTask(demand, planned, facts, found));
  const unmeasured = tasks.filter(({ callMs, plannedPerSecond }) => callMs === null && plannedPerSecond);
  const [some, others] = [false, true].map((isSeen) =>
    unmeasured.filter((task) => hasBeenSeen(task) === isSeen).map(({ taskType }) => taskType),
  );
  if (some?.length) found.open.push(`no call of ${some.join(', ')} was measured`);
  if (others?.length) found.notKnown.push(`no call of ${others.join(', ')} was measured`);
  const rateLimits = rateLimitsOf(demands, facts, found);
  const gateway = ceilingOf(tasks, facts, found);
  const redis = redisOf(cards, facts, found);
  const database = databaseOf(cards, facts, found);
  const total = demands.some((demand) => demand.planned === null) ? null : sum(Object.values(planned));
  const instances = instancesOf(total, facts, found);
  const more = cards === facts.cards ? [] : ['the cards keep their mix of carriers and configs'];
  const asLong = tasks.some(({ callMs }) => callMs !== null)
    ? ['a call takes as long as now, however many run at a time']
    : [];
  const isMore = total !== null && total > NEARLY * (facts.bestPerSecond ?? 0) && instances.atLeast === null;
  return {
    generatedAt: new Date(facts.atMs),
    ...verdictOf(found, isMore ? instances.workers : null),
    needs: found.needs,
    notKnown: [...found.open, ...found.notKnown],
    assumptions: [...more, ...asLong],
    cards: facts.cards,
    plannedCards: cards,
    tasks,
    rateLimits,
    gateway,
    redis,
    database,
    instances,
  };
}

function plannedCards(now: number, { cards, add }: PlanRequest): number {
  const { min, max } = PLANNED_CARDS_BOUNDS;
  const planned = cards ?? now + (add ?? 0);
  if (cards !== null && add !== null) throw outOfBounds('add', 'must not be given together with cards');
  if (planned >= min && planned <= max) return planned;
  throw outOfBounds(
    cards === null ? 'add' : 'cards',
    `must leave ${min} to ${max} cards in all: there are ${now}`,
  );
}

function outOfBounds(field: string, message: string): CardpollError {
  return new CardpollError('invalid', 'invalid_field', 'a value is out of bounds', {
    fields: [{ field, message }],
  });
}

/** @param unproven number of instances that may be too few, because no such pace was measured. null: none. */
function verdictOf({ needs, open }: Findings, unproven: number | null): Pick<PlanReport, 'verdict' | 'text'> {
  const enough = `whether ${countWords(unproven ?? 0, 'instance is', 'instances are')} enough is not known`;
  const instances = unproven === null ? '' : `; ${unproven === 0 ? 'no instance polls now' : enough}`;
  if (needs.length > 0) return { verdict: 'needs', text: `needs: ${needs.join('; ')}${instances}` };
  if (open.length > 0) return { verdict: 'unknown', text: `cannot be told: ${open.join('; ')}` };
  return { verdict: 'fits', text: `fits as it is${instances}` };
}

type Demand = ReturnType<typeof demandOf>;

/** Polls a second, now and as planned. @param factor for the cards of each config; null: unknown. */
function demandOf(task: PlannedTask, { intervals }: PlanRequest, factor: number | null) {
  const { taskType, configs, offered } = task;
  const seconds = intervals.find((one) => one.taskType === taskType)?.seconds ?? null;
  const polled = offered ? configs : [];
  const missing = polled.find(({ members }) => members === null)?.id ?? null;
  const of = (times: number | null, intervalOf: (config: (typeof configs)[number]) => number) => {
    if (polled.length === 0) return 0;
    if (missing !== null || times === null) return null;
    return sum(polled.map((config) => (times * (config.members ?? 0)) / intervalOf(config)));
  };
  return {
    taskType,
    task,
    seconds,
    missing,
    now: of(1, ({ intervalSeconds }) => intervalSeconds),
    planned: of(factor, ({ intervalSeconds }) => seconds ?? intervalSeconds),
  };
}

/** Whether polls succeeded at the planned pace in the last hour. */
function hasBeenSeen({
  plannedPerSecond: planned,
  bestPerSecond: best,
}: Pick<PlanReport['tasks'][number], 'plannedPerSecond' | 'bestPerSecond'>): boolean {
  return planned !== null && best !== null && best >= planned;
}

function planTask(
  { task, taskType, seconds, missing, now, planned }: Demand,
  demands: Readonly<Record<TaskType, number>>,
  { limits, cardsPerCall, ceiling }: PlanFacts,
  { needs, open, notKnown }: Findings,
): PlanReport['tasks'][number] {
  const { maxConcurrency: max, effectiveConcurrency: inForce, bestPerSecond: best } = task;
  const callMs = task.callMs ?? task.usualMs;
  const share = paceShareOf(taskType, limits, demands, cardsPerCall)?.perSecond ?? Number.POSITIVE_INFINITY;
  const needed = planned === null || callMs === null ? null : concurrencyFor(planned, callMs);
  const isSeen = hasBeenSeen({ plannedPerSecond: planned, bestPerSecond: best });
  if (!task.offered) notKnown.push(`${taskType}: the gateway does not offer it, so nothing is polled`);
  else if (task.configs.length === 0)
    notKnown.push(`${taskType}: no config is enabled, so nothing is polled`);
  if (missing !== null) open.push(`${taskType}: the schedule of config ${missing} is not built`);
  const shortest = Math.min(...task.configs.map(({ intervalSeconds }) => seconds ?? intervalSeconds));
  if (task.offered && shortest < task.leastIntervalSeconds)
    needs.push(
      `an interval of ${span(task.leastIntervalSeconds)} or more for ${taskType} (gateway.rate_limits)`,
    );
  const isPossible = needed !== null && needed <= MAX_CONCURRENCY_BOUNDS.max;
  if (needed !== null && needed > max) {
    needs.push(
      isPossible
        ? `concurrency of ${taskType} ${grouped(needed)} (now ${grouped(max)})`
        : `${grouped(needed)} calls of ${taskType} at a time, and a limit is at most ${grouped(MAX_CONCURRENCY_BOUNDS.max)}`,
    );
  } else if (needed !== null && needed > inForce && ceiling === null && !isSeen) {
    open.push(`${taskType}: ${inForce} of ${max} calls at a time are in force, and ${needed} are needed`);
  }
  return {
    taskType,
    enabledConfigs: task.configs.length,
    intervalSeconds: task.configs.length === 0 ? null : seconds,
    demandPerSecond: roundedOrNull(now),
    plannedPerSecond: roundedOrNull(planned),
    bestPerSecond: roundedOrNull(best),
    possiblePerSecond:
      callMs === null ? null : rounded(Math.min(share, (1000 * inForce) / Math.max(0.1, callMs))),
    callMs: roundedOrNull(callMs),
    callMsFrom: callMs === null ? null : task.callMs === null ? 'last_day' : 'last_seconds',
    maxConcurrency: max,
    effectiveConcurrency: inForce,
    neededConcurrency: needed,
    command: isPossible && needed > max ? `cardpoll concurrency set ${taskType} ${needed}` : null,
  };
}

/** Counts the calls of polls; calls that stop and resume cards are additional. */
function rateLimitsOf(demands: readonly Demand[], { limits, cardsPerCall }: PlanFacts, { needs }: Findings) {
  return limits.map((limit) => {
    const counted = demands.filter(({ taskType }) => countsCalls(limit, TASKS[taskType].interface));
    const calls = counted.map(({ taskType, planned }) =>
      planned === null ? null : planned / cardsPerCall(TASKS[taskType].interface),
    );
    const known = sum(calls.map((one) => one ?? 0));
    const { id, perSecond } = limit;
    if (known > perSecond)
      needs.push(`rate limit ${id} of ${rateWords(known)} (now ${rateWords(perSecond)})`);
    return {
      id,
      perSecond: rounded(perSecond),
      plannedPerSecond: calls.includes(null) ? null : rounded(known),
    };
  });
}

function ceilingOf(tasks: PlanReport['tasks'], { ceiling }: PlanFacts, { needs }: Findings) {
  const idle = ({ plannedPerSecond }: PlanReport['tasks'][number]) => plannedPerSecond === 0;
  const needed = tasks.map((task) => (idle(task) ? 0 : task.neededConcurrency));
  const known = sum(needed.map((one) => one ?? 0));
  if (ceiling !== null && known > ceiling)
    needs.push(`gateway.max_concurrency ${grouped(known)} (now ${grouped(ceiling)})`);
  return { maxConcurrency: ceiling, neededConcurrency: needed.includes(null) ? null : known };
}

function redisOf(cards: number, facts: PlanFacts, { needs, notKnown }: Findings) {
  const { servers, usedBytes, limitBytes } = facts.redis;
  const bytesPerCard = bytesACardOn(servers);
  const added = Math.max(0, cards - facts.cards) * bytesPerCard;
  const plannedBytes = Math.ceil(Math.max(cards * bytesPerCard, (usedBytes ?? 0) + added));
  if (usedBytes === null || !limitBytes) notKnown.push('Redis: its memory is not reported');
  else if (isTooFull(plannedBytes, limitBytes))
    needs.push(`memory of Redis for ${byteWords(plannedBytes)} (now ${byteWords(limitBytes)})`);
  return { usedBytes, limitBytes, bytesPerCard, plannedBytes };
}

function databaseOf(cards: number, facts: PlanFacts, { notKnown }: Findings) {
  const { databaseBytes: bytes } = facts;
  const isEnough = facts.cards >= LEAST_CARDS_MEASURED;
  if (bytes === null) notKnown.push('PostgreSQL: the size of the database');
  else if (!isEnough)
    notKnown.push(`PostgreSQL: bytes per card, with fewer than ${grouped(LEAST_CARDS_MEASURED)} cards`);
  const bytesPerCard = bytes === null || !isEnough ? null : Math.round(bytes / facts.cards);
  const added = Math.max(0, cards - facts.cards);
  notKnown.push('PostgreSQL: the free space of its disk');
  return {
    bytes,
    bytesPerCard,
    plannedBytes: bytes === null || bytesPerCard === null ? null : bytes + added * bytesPerCard,
  };
}

/** Polls cost processor time: as many instances as would use a full core each. */
function instancesOf(total: number | null, facts: PlanFacts, { needs, notKnown }: Findings) {
  const { workers, polledPerSecond } = facts;
  const count = workers.length;
  const busy = workers.filter((worker) => isBusy(worker) === true).length;
  const used = workers.flatMap(({ cpuPercent }) => cpuPercent ?? []);
  const cpuPercent = count === 0 || used.length < count ? null : sum(used) / count;
  const isFull = count > 0 && busy === count && polledPerSecond > 0 && cpuPercent !== null;
  const atLeast =
    isFull && total !== null
      ? Math.max(1, Math.ceil((total / polledPerSecond) * count * (cpuPercent / 100)))
      : null;
  if (count === 0) notKnown.push('instances: none polls now');
  else if (!isFull)
    notKnown.push(
      busy === 0 ? 'instances: no instance was busy' : `instances: only ${busy} of ${count} were busy`,
    );
  if (atLeast !== null && atLeast > count)
    needs.push(`at least ${countWords(atLeast, 'instance')} (now ${grouped(count)})`);
  return {
    workers: count,
    busy,
    perSecond: count === 0 ? null : rounded(polledPerSecond / count),
    cpuPercent: cpuPercent === null ? null : Math.round(cpuPercent),
    atLeast,
  };
}
