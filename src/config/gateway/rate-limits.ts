// Reads gateway.rate_limits, a list of limits in the config file, with all its problems at once. Used by the settings
// table and by load-gateway.ts, which adds the short form.
import { INTERFACE_NAMES, type InterfaceName } from '../../domain/gateway-interface.ts';
import {
  type CallRateLimit,
  defaultBurst,
  perSecondOf,
  RATE_UNIT_SECONDS,
  type RateLimit,
  type RateUnit,
  rateLimitId,
  stricterOf,
} from '../../domain/limits/rate-limit.ts';
import { TASK_TYPES, TASKS } from '../../domain/task-type.ts';
import { isObject } from '../../platform/json.ts';
import { BadValue, duration, integer, type Kind, refuse } from '../kinds.ts';
import { didYouMean } from '../suggest.ts';

/** A gateway with a higher capacity needs no rate limit; the same bound holds for its rate per minute and per hour. */
const MAX_PER_SECOND = 100_000;
const MAX_LIMITS = 16;
/** The least default of a limit per second. */
const LEAST_MAX_BURST = 4;

const UNITS = Object.keys(RATE_UNIT_SECONDS) as readonly RateUnit[];
const CALL_KEYS = [...UNITS.map((unit) => `per_${unit}`), 'burst', 'interfaces'];
const CARD_KEYS = ['per_card', 'every_seconds', 'interfaces'];
const KEYS = [...new Set([...CALL_KEYS, ...CARD_KEYS])];
const POLLED = TASK_TYPES.map((taskType) => TASKS[taskType].interface);
const EVERY = duration('s', { min: 1, max: 31 * 86_400 });

export const callsPer = (unit: RateUnit): Kind<number> =>
  integer({ min: 1, max: MAX_PER_SECOND * RATE_UNIT_SECONDS[unit] });

export const RATE_LIMIT_LIST: Kind<readonly RateLimit[]> = {
  accepts:
    'list of {per_second, per_minute or per_hour, burst, interfaces} and {per_card, every_seconds, interfaces}',
  parse: (raw) => {
    if (!Array.isArray(raw)) refuse('is not a list of limits, each with `- `');
    if (raw.length > MAX_LIMITS) refuse(`has more than ${MAX_LIMITS} limits`);
    const problems: string[] = [];
    const limits = raw.flatMap((item, i) => {
      const before = problems.length;
      const limit = limitOf(item, (problem) => problems.push(`limit ${i + 1}: ${problem}`));
      return limit === null || problems.length > before ? [] : limit;
    });
    problems.push(...repeated(limits));
    return problems.length === 0 ? limits : refuse(problems.join('; '));
  },
};

/** All limits. If both the short form and a limit per second for all calls exist, the stricter one is in force. */
export function allRateLimits(pace: {
  readonly rateLimits: readonly RateLimit[];
  readonly rateLimitPerSecond: number | null;
}): readonly RateLimit[] {
  const { rateLimits: listed, rateLimitPerSecond: calls } = pace;
  if (calls === null) return listed;
  const short = callLimit(null, calls, 'second');
  const isSame = (limit: RateLimit) => limit.kind === 'calls' && rateLimitId(limit) === rateLimitId(short);
  const stricter = listed.map((limit) => (isSame(limit) ? stricterOf(limit as CallRateLimit, short) : limit));
  return listed.some(isSame) ? stricter : [short, ...listed];
}

type Note = (problem: string) => void;

/** Ignore the result if a problem was noted. */
function limitOf(given: unknown, note: Note): RateLimit | null {
  if (!isObject(given)) {
    note(`${JSON.stringify(given)} is not keys and values`);
    return null;
  }
  const isPerCard = 'per_card' in given || 'every_seconds' in given;
  const keys = isPerCard ? CARD_KEYS : CALL_KEYS;
  for (const key of Object.keys(given).filter((key) => !keys.includes(key))) {
    note(
      KEYS.includes(key) ? `${key} does not go with per_card` : `unknown key ${key}${didYouMean(key, keys)}`,
    );
  }
  const interfaces = interfacesOf(given.interfaces, isPerCard ? POLLED : INTERFACE_NAMES, note);
  return isPerCard ? cardLimitOf(given, interfaces, note) : callLimitOf(given, interfaces, note);
}

function cardLimitOf(
  given: Record<string, unknown>,
  interfaces: RateLimit['interfaces'],
  note: Note,
): RateLimit {
  if (given.per_card !== true) note('every_seconds needs per_card: true');
  return {
    kind: 'card',
    interfaces,
    everySeconds: numberOf(EVERY, given.every_seconds, 'every_seconds', note),
  };
}

function callLimitOf(
  given: Record<string, unknown>,
  interfaces: RateLimit['interfaces'],
  note: Note,
): CallRateLimit {
  const [unit, ...others] = UNITS.filter((one) => `per_${one}` in given);
  if (unit === undefined || others.length > 0) note('give one of per_second, per_minute and per_hour');
  if (unit === undefined) return callLimit(interfaces, 1, 'second');
  const calls = numberOf(callsPer(unit), given[`per_${unit}`], `per_${unit}`, note);
  const limit = callLimit(interfaces, calls, unit);
  if (!('burst' in given)) return limit;
  const burst = numberOf(integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), given.burst, 'burst', note);
  const most = Math.max(LEAST_MAX_BURST, calls);
  if (calls > 0 && burst > most)
    note(`burst ${burst} is more than the ${calls} of per_${unit}: ${most} at most`);
  return { ...limit, burst };
}

function callLimit(interfaces: RateLimit['interfaces'], calls: number, unit: RateUnit): CallRateLimit {
  return { kind: 'calls', interfaces, calls, unit, burst: defaultBurst(perSecondOf({ calls, unit })) };
}

/** @returns 0 when the value was refused. */
function numberOf(kind: Kind<number>, raw: unknown, key: string, note: Note): number {
  if (raw === undefined || raw === null) {
    note(`${key} is missing`);
    return 0;
  }
  try {
    return kind.parse(raw);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    note(`${key}: ${error.message}`);
    return 0;
  }
}

function interfacesOf(
  raw: unknown,
  known: readonly InterfaceName[],
  note: Note,
): readonly InterfaceName[] | null {
  if (raw === undefined) return null;
  if (!Array.isArray(raw) || raw.length === 0) {
    note('interfaces is not a list of names');
    return null;
  }
  for (const name of raw.filter((one) => !known.includes(one))) {
    const isOther = INTERFACE_NAMES.includes(name);
    note(
      isOther ? `no poll begins with ${name}` : `unknown interface ${name}${didYouMean(String(name), known)}`,
    );
  }
  return known.filter((name) => raw.includes(name));
}

/** Reports two limits that count the same calls in the same unit: one of them is a mistake. */
function repeated(limits: readonly RateLimit[]): string[] {
  const names = limits.map((limit) =>
    limit.kind === 'calls' ? rateLimitId(limit) : `${limit.interfaces?.join('+') ?? 'all'}/card`,
  );
  const twice = names.filter((name, i) => names.indexOf(name) < i);
  return twice.map((name) => `two limits for ${name.replace('/', ' calls per ')}: keep one`);
}
