// The state of the gateway for the whole fleet. Each instance has its own breakers and reports the open ones with its heartbeat;
// this file combines them, has the reasons of breakers, and names in a few words what holds a task type back. Used by the judge, by
// statistics and explain, and by the capacity, which cannot be computed meanwhile. Pure.
import { dateOf } from '../domain/date-of.ts';
import {
  type FaultKind,
  faultWords,
  type GatewayFault,
  REFUSED_CREDENTIALS,
} from '../domain/gateway-fault.ts';
import { FOLLOW_UP_INTERFACES, INTERFACE_NAMES, WHOLE_GATEWAY } from '../domain/gateway-interface.ts';
import { groupBy } from '../domain/group-by.ts';
import type { BreakerState } from '../domain/limits/breaker.ts';
import { percentDown, roundedOrNull, sum } from '../domain/numbers.ts';
import { HOLD_WORDS } from '../domain/schedule/poll-hold.ts';
import { TASKS, type TaskType } from '../domain/task-type.ts';
import { countWords } from '../domain/words.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { Cause } from './reason.ts';

/** resources/health.ts documents the fields. */
export interface InterfaceReport {
  readonly interface: string;
  readonly breaker: BreakerState;
  readonly since: Date | null;
  readonly reason: string | null;
  readonly kind?: FaultKind | null;
  readonly nextProbeAt: Date | null;
  readonly instances: number;
}

type HeldInterface = Pick<
  InterfaceReport,
  'interface' | 'breaker' | 'reason' | 'kind' | 'since' | 'instances'
>;

export interface Breakers {
  readonly interfaces: readonly InterfaceReport[];
}

export function gatewayReportOf(instances: readonly Pick<InstanceInfo, 'breakers'>[]): Breakers {
  const all = instances.flatMap((instance) => instance.breakers);
  const names = [WHOLE_GATEWAY, ...INTERFACE_NAMES] as const;
  return { interfaces: names.map((name) => interfaceReportOf(name, all)) };
}

function interfaceReportOf(
  name: InterfaceReport['interface'],
  all: InstanceInfo['breakers'],
): InterfaceReport {
  const own = all.filter((breaker) => breaker.interface === name).sort((a, b) => a.sinceMs - b.sinceMs);
  const shown = own.find(({ state }) => state === 'open') ?? own[0];
  return {
    interface: name,
    breaker: shown?.state ?? 'closed',
    since: dateOf(shown?.sinceMs),
    reason: shown?.reason ?? null,
    kind: shown?.kind ?? null,
    nextProbeAt: dateOf(shown?.nextProbeAtMs),
    instances: own.length,
  };
}

/** After this time the breakers of the other workers would be open, too. */
const ALONE_AFTER_MS = 10_000;

/**
 * Workers that hold an interface back while most workers call it: the gateway answers, but they do not reach it.
 * @returns their ids, by interface
 */
export function cutOffFrom(
  instances: readonly Pick<InstanceInfo, 'instanceId' | 'roles' | 'breakers'>[],
  nowMs: number,
): ReadonlyMap<string, readonly string[]> {
  const workers = instances.filter(({ roles }) => roles.includes('worker'));
  const found = [WHOLE_GATEWAY, ...INTERFACE_NAMES].map((name): [string, string[]] => {
    const holding = workers.filter(({ breakers }) => breakers.some((one) => one.interface === name));
    const isLong = holding.every(({ breakers }) =>
      breakers.some((one) => one.interface === name && nowMs - one.sinceMs >= ALONE_AFTER_MS),
    );
    const isFew = 2 * holding.length <= workers.length;
    return [name, isLong && isFew ? holding.map(({ instanceId }) => instanceId) : []];
  });
  return new Map(found.filter(([, ids]) => ids.length > 0));
}

/** How calls fail now, and for which workers; null: calls reach the gateway. */
export interface PresentFault extends GatewayFault {
  /** Empty: all workers. */
  readonly instanceIds: readonly string[];
}

export function presentFaultOf(
  instances: ReadonlyArray<Pick<InstanceInfo, 'instanceId' | 'roles' | 'gatewayFault'>>,
): PresentFault | null {
  const workers = instances.filter(({ roles }) => roles.includes('worker'));
  const failing = workers.flatMap(({ instanceId, gatewayFault }) =>
    gatewayFault ? [{ instanceId, ...gatewayFault }] : [],
  );
  const byKind = [...groupBy(failing, ({ kind }) => kind).values()].sort((a, b) => b.length - a.length);
  const [most] = byKind;
  if (most === undefined) return null;
  const [{ kind, text }] = most;
  const instanceIds = most.length === workers.length ? [] : most.map(({ instanceId }) => instanceId);
  return { kind, text, instanceIds };
}

interface TaskNow {
  readonly ratePerSecond_10s: number;
  readonly avgDurationMs_10s: number | null;
  readonly successRate_10s: number | null;
  readonly healthReasons: ReadonlyArray<{ readonly code: string }>;
}

/** Current response time and success rate of the gateway, over the polls of all task types. */
export function gatewayNowOf(tasks: readonly TaskNow[]) {
  const meanOf = (field: 'avgDurationMs_10s' | 'successRate_10s') => {
    const known = tasks.flatMap(({ ratePerSecond_10s: polls, [field]: value }) =>
      value === null || polls === 0 ? [] : { polls, value },
    );
    if (known.length === 0) return null;
    return sum(known.map(({ polls, value }) => polls * value)) / sum(known.map(({ polls }) => polls));
  };
  const successRate = meanOf('successRate_10s');
  return {
    avgDurationMs_10s: roundedOrNull(meanOf('avgDurationMs_10s')),
    successRate_10s: successRate === null ? null : percentDown(successRate),
    slow: tasks.some(({ healthReasons }) => healthReasons.some(({ code }) => code === 'gateway_slow')),
  };
}

/** The interfaces whose breakers hold this task type back. */
export function heldInterfacesOf(taskType: TaskType, { interfaces }: Breakers): InterfaceReport[] {
  const concerned: readonly string[] = [WHOLE_GATEWAY, TASKS[taskType].interface];
  return interfaces.filter((one) => one.breaker !== 'closed' && concerned.includes(one.interface));
}

/** Interfaces with an open breaker that only some polls of a task type call. */
export function heldFollowUpsOf(taskType: TaskType, { interfaces }: Breakers): InterfaceReport[] {
  const concerned = taskType === 'package' ? FOLLOW_UP_INTERFACES : [];
  return interfaces.filter((one) => one.breaker !== 'closed' && concerned.includes(one.interface));
}

type Breaker = Pick<InterfaceReport, 'interface' | 'breaker' | 'kind'>;

/**
 * @param instances the live ones.
 * @returns what holds a task type back: no worker that can poll, an open breaker, a pause, or the gate of every worker; null:
 * nothing.
 */
export function heldBackBy(
  taskType: TaskType,
  instances: ReadonlyArray<Pick<InstanceInfo, 'roles' | 'databaseOutage' | 'holds'>>,
  breakers: readonly Breaker[],
  pauses: readonly unknown[],
): string | null {
  const workers = instances.filter(({ roles }) => roles.includes('worker'));
  if (workers.length === 0) return 'no instance is known to poll';
  if (workers.every(({ databaseOutage }) => databaseOutage !== null))
    return 'no instance can use the database';
  const worst = breakers.find(({ breaker }) => breaker === 'open') ?? breakers[0];
  if (worst !== undefined) return breakerWords(worst);
  return pauses.length === 0 ? heldByAll(taskType, workers) : 'polling is paused';
}

/** @returns why none of these workers claims cards of the task type, unless pauses, breakers or rate limits are the reason. */
export function heldByAll(
  taskType: TaskType,
  workers: ReadonlyArray<Pick<InstanceInfo, 'holds'>>,
): string | null {
  const holds = workers.map((worker) => worker.holds?.[taskType]);
  const [first] = holds;
  return first === undefined || holds.includes(undefined) ? null : (HOLD_WORDS[first] ?? null);
}

export interface BreakerInputs {
  /** Of the interfaces this task type calls and of the whole gateway. */
  readonly breakers: readonly HeldInterface[];
  /** Of the interfaces that only some of its polls call: the others go on. */
  readonly followUps: readonly HeldInterface[];
  /** See cutOffFrom. */
  readonly cutOff: ReadonlyMap<string, readonly string[]>;
  /** The polls of the last seconds. */
  readonly present: { readonly successRate: number | null; readonly seconds: number };
  readonly nowMs: number;
}

export function breakerReasons({ breakers, followUps, cutOff, present, nowMs }: BreakerInputs): Cause[] {
  // That others do not hold it back may only say that they call nothing. The second witness is polls that succeeded since.
  const isAnswered = ({ since }: HeldInterface) =>
    (present.successRate ?? 0) > 0 && since !== null && nowMs - since.getTime() >= 1_000 * present.seconds;
  return [...breakers, ...followUps].map((held) => {
    const ids = breakers.includes(held) && isAnswered(held) ? cutOff.get(held.interface) : undefined;
    const because = held.reason === null ? '' : `: ${withoutKind(held.reason)}`;
    if (ids !== undefined) {
      const text = `${ids.join(', ')} cannot use ${interfaceWords(held)}, but polls of other workers succeed${because}`;
      return { code: 'instance_cut_off', severity: 'warning', text, command: 'cardpoll stats instances' };
    }
    return {
      code: 'breaker_open',
      severity: held.breaker === 'open' && breakers.includes(held) ? 'alert' : 'warning',
      text: `${breakerWords(held)} (${countWords(held.instances, 'instance')})${because}`,
      command: 'cardpoll doctor',
      kind: held.kind ?? null,
    };
  });
}

function breakerWords(held: Breaker): string {
  const words = held.breaker === 'open' ? faultWords(held.kind) : null;
  return words ?? `${interfaceWords(held)} is ${held.breaker === 'open' ? 'dead' : 'recovering'}`;
}

export function interfaceWords({ interface: name }: Pick<InterfaceReport, 'interface'>): string {
  return name === WHOLE_GATEWAY ? 'the gateway' : `interface ${name}`;
}

/** What a call failed with, next to the words for its kind. */
export function withoutKind(text: string): string {
  return text.replace(`${REFUSED_CREDENTIALS}: `, '');
}
