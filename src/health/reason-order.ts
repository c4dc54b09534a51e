// The order of reasons, for every surface: what stops customers comes first, and a cause comes before what follows from it. What began
// first and can explain the others is their cause until it is over (explains.ts says what can). What is one fact for several task types is one
// reason of the fleet. Used by health-reasons.ts and fleet-health.ts. Pure.
import { areOnePause } from '../domain/limits/operator-limits.ts';
import { reasonRow } from '../domain/reasons.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import type { KnownChange } from './change-before.ts';
import { isOfAccess, isStrainedBy, LOAD, placeOfHold, placeOfSlowness } from './explains.ts';
import type { HealthReason } from './reason.ts';

/** What one cause brings about is found within this time: reasons are of the polls of the last seconds. */
const FOUND_WITHIN_MS = 20_000;

interface Dated {
  readonly reason: HealthReason;
  /** The change of an operator that led to more load at once; null: none did. */
  readonly change: KnownChange | null;
  /** When its cause began: with the change, or with itself. */
  readonly beganMs: number;
}

interface OrderDeps {
  /** Dates what has just begun. */
  readonly nowMs: number;
  readonly changeOf: (reason: HealthReason) => KnownChange | null;
}

/** @returns the reasons with their causes, each after its cause, the worst causes first, of these the one that began first. */
export function inOrder(reasons: readonly HealthReason[], { nowMs, changeOf }: OrderDeps): HealthReason[] {
  const all = reasons.map((reason): Dated => {
    const sinceMs = reason.since?.getTime() ?? nowMs;
    const change = changeOf(reason);
    const isLed =
      change?.isImmediate === true && LOAD.includes(reason.code) && sinceMs - change.atMs <= FOUND_WITHIN_MS;
    return { reason, change: isLed ? change : null, beganMs: isLed ? change.atMs : sinceMs };
  });
  const groups = new Map<Dated, Dated[]>(all.map((one) => [one, []]));
  for (const one of all) {
    const root = rootOf(one, all);
    if (root === one) continue;
    groups.delete(one);
    groups.get(root)?.push(one);
  }
  return [...groups]
    .sort((a, b) => rankOf(a) - rankOf(b) || a[0].beganMs - b[0].beganMs)
    .flatMap(([{ reason }, follows]) => [
      { ...reason, causedBy: null },
      ...bySeverity(follows.map((one) => ({ ...one.reason, causedBy: reason.code }))),
    ]);
}

/** A cause may have a cause itself. No two explain each other: see causeOf. */
function rootOf(one: Dated, all: readonly Dated[]): Dated {
  const cause = causeOf(one, all);
  return cause === null ? one : rootOf(cause, all);
}

/**
 * What holds all polls back, then a change that came before, then what is slow. A reason to which a change led does not follow from
 * what is slow, because the change came last; only from another reason of the same change.
 */
function causeOf(one: Dated, all: readonly Dated[]): Dated | null {
  const held = first(all, one, ({ reason }) => placeOfHold(reason, one.reason));
  if (held !== null && !isLedTo(one, held)) return held;
  const led = all.find((cause) => isLedTo(cause, one));
  if (led !== undefined) return led;
  return first(all, one, ({ reason, change, beganMs }) => {
    const isLater = beganMs > one.beganMs + FOUND_WITHIN_MS;
    const isOther = one.change !== null && change?.id !== one.change.id;
    return isLater || isOther ? -1 : placeOfSlowness(reason, one.reason);
  });
}

/** The change behind the cause can have brought this about, too, also for other task types: the gateway and the machine are shared. */
function isLedTo({ reason, change, beganMs }: Dated, { reason: to, ...other }: Dated): boolean {
  if (change === null || other.change !== null || beganMs > other.beganMs) return false;
  return isStrainedBy(change.explains, to) && (!LOAD.includes(to.code) || concerns(reason, to));
}

function first(all: readonly Dated[], to: Dated, placeOf: (cause: Dated) => number): Dated | null {
  const found = all
    .filter((one) => one !== to && concerns(one.reason, to.reason))
    .map((one) => ({ one, place: placeOf(one) }))
    .filter(({ place }) => place >= 0);
  return found.sort((a, b) => a.place - b.place)[0]?.one ?? null;
}

/** A cause of the whole fleet concerns every task type. */
function concerns(cause: HealthReason, { taskType }: HealthReason): boolean {
  return (cause.taskType ?? taskType) === taskType;
}

/** By the worst of a group; among alerts, and among warnings, customers come first. */
function rankOf([root, follows]: readonly [Dated, readonly Dated[]]): number {
  const group = [root, ...follows].map(({ reason }) => reason);
  const isAlert = group.some(({ severity }) => severity === 'alert');
  const isOfCustomers = group.some(({ code }) => reasonRow(code).cutsOff === true);
  return (isAlert ? 0 : 2) + (isOfCustomers ? 0 : 1);
}

function bySeverity(reasons: readonly HealthReason[]): HealthReason[] {
  const alerts = reasons.filter(({ severity }) => severity === 'alert');
  return [...alerts, ...reasons.filter(({ severity }) => severity !== 'alert')];
}

type WorkPause = Parameters<typeof areOnePause>[0][number];

/** One reason for one fact: see mergedGateway and mergedPauses. @param slowSinceMs as mergedGateway has it. */
export function mergedReasons(
  reasons: readonly HealthReason[],
  pauses: readonly WorkPause[],
  slowSinceMs: number | undefined,
): readonly HealthReason[] {
  return mergedPauses(mergedGateway(reasons, slowSinceMs), pauses);
}

const RESUME = 'cardpoll resume';

/** One reason, and the one command that ends it, where all pauses are one: an operator usually pauses all task types. */
function mergedPauses(
  reasons: readonly HealthReason[],
  pauses: readonly WorkPause[],
): readonly HealthReason[] {
  const paused = reasons.filter(({ code }) => code === 'paused');
  if (!areOnePause(pauses) || paused.length !== pauses.length) return reasons;
  const [one] = merged(paused, undefined);
  if (one === undefined) return reasons;
  const isWhole = paused.length === TASK_TYPES.length;
  const text = isWhole ? `polling is ${withoutNames(one.text)}` : one.text;
  const command = one.command?.startsWith(RESUME) === true ? RESUME : one.command;
  return [{ ...one, text, command }, ...reasons.filter(({ code }) => code !== 'paused')];
}

/**
 * One reason for the gateway, or for a carrier, where it is slow for several task types: that of the type that is slower, with the
 * names of all. One, too, where a breaker of the whole gateway holds all types, or one fault of access fails the polls of all.
 * @param sinceMs when the gateway began to be slow for several types, where that is noted.
 */
function mergedGateway(
  reasons: readonly HealthReason[],
  sinceMs: number | undefined,
): readonly HealthReason[] {
  const slow = reasons.filter(({ code }) => code === 'gateway_slow');
  const slowCarriers = reasons.filter(({ code }) => code === 'carrier_slow');
  const held = reasons.filter(({ code }) => code === 'breaker_open');
  const same = held.filter(({ text }) => withoutName(text) === withoutName(held[0]?.text ?? ''));
  const alike = same.length === TASK_TYPES.length ? same : [];
  const refused = ofOneAccessFault(reasons);
  const rest = reasons.filter((one) => ![...slow, ...slowCarriers, ...alike, ...refused].includes(one));
  const common = commonText(refused);
  const refusedAlike = refused.map((one) => ({ ...one, text: `${one.taskType}: ${common}` }));
  const whole = [alike, refusedAlike, slowCarriers].flatMap((group) => merged(group, undefined));
  return [...whole, ...merged(slow, sinceMs), ...rest];
}

/** The failing polls of all task types, where one fault lets no call through: with its words alone where the shares differ. */
function ofOneAccessFault(reasons: readonly HealthReason[]): readonly HealthReason[] {
  const failing = reasons.filter((one) => one.code === 'success_rate' && isOfAccess(one));
  const isOne = failing.every(({ kind }) => kind === failing[0]?.kind);
  return isOne && failing.length === TASK_TYPES.length && commonText(failing) !== '' ? failing : [];
}

/** The beginning that all texts have, up to a colon; the whole text if it is the same. */
function commonText(reasons: readonly HealthReason[]): string {
  const [first = '', ...others] = reasons.map(({ text }) => withoutName(text));
  const parts = first.split(': ');
  const shared = parts.findIndex((_, i) => {
    const start = parts.slice(0, i + 1).join(': ');
    return others.some((text) => text !== start && !text.startsWith(`${start}: `));
  });
  return shared === -1 ? first : parts.slice(0, shared).join(': ');
}

function merged(reasons: readonly HealthReason[], sinceMs: number | undefined): readonly HealthReason[] {
  const [first] = reasons;
  if (first === undefined || reasons.length === 1) return reasons;
  const since = reasons.flatMap((one) => one.since?.getTime() ?? []);
  if (sinceMs !== undefined) since.push(sinceMs);
  const worst = reasons.find(({ severity }) => severity === 'alert') ?? first;
  const names = reasons.flatMap(({ taskType }) => taskType ?? []).join(', ');
  const text = `${names}: ${withoutName(worst.text)}`;
  return [
    { ...worst, text, taskType: null, since: since.length === 0 ? null : new Date(Math.min(...since)) },
  ];
}

function withoutName(text: string): string {
  return text.replace(/^\S+: /, '');
}

function withoutNames(text: string): string {
  return text.replace(/^[^:]+: /, '');
}
