// Reads when a gateway wants the next call: Retry-After (RFC 9110, 10.2.3) in every form that servers send, otherwise the quota
// headers, which give the time of the next quota. Pure; limited by gateway.max_retry_after_seconds.
import type { IncomingHttpHeaders } from 'node:http';

/** Headers with a pause, and the unit of a plain number in milliseconds. */
const PAUSES = [
  ['retry-after', 1_000],
  ['retry-after-ms', 1],
  ['x-ms-retry-after-ms', 1],
  ['x-retry-after', 1_000],
  ['x-ratelimit-retry-after', 1_000],
  ['x-rate-limit-retry-after', 1_000],
  ['x-rate-limit-retry-after-seconds', 1_000],
] as const;
/** Headers with the time of the next quota: seconds from now, or a time. */
const RESETS = [
  'ratelimit-reset',
  'x-ratelimit-reset',
  'x-rate-limit-reset',
  'x-ratelimit-reset-after',
  'x-rate-limit-reset-after',
] as const;
const REMAINING = ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining'] as const;
const MAX_CHARS = 200;

/**
 * @param nowMs our clock, for an answer without a Date header: times are by the gateway's clock.
 * @returns milliseconds, at most `maxMs`; null: nothing readable, or no pause (zero, a time in the past).
 */
export function parseRetryAfter(headers: IncomingHttpHeaders, nowMs: number, maxMs: number): number | null {
  const clockMs = timeIn(textOf(headers.date)) ?? nowMs;
  const pauses = PAUSES.map(([name, unitMs]) => pauseIn(textOf(headers[name]), unitMs, clockMs));
  const asked = pauses.find((pause) => pause !== null) ?? untilReset(headers, clockMs);
  return asked !== null && asked > 0 ? Math.min(maxMs, Math.ceil(asked)) : null;
}

function untilReset(headers: IncomingHttpHeaders, clockMs: number): number | null {
  // Some quota is left, so the call was refused for another reason.
  if (REMAINING.some((name) => Number.parseFloat(textOf(headers[name])) > 0)) return null;
  const resets = RESETS.map((name) => pauseIn(textOf(headers[name]), 1_000, clockMs));
  return resets.find((reset) => reset !== null) ?? spentPolicies(textOf(headers.ratelimit));
}

/** The RateLimit header of IETF drafts: `limit=10, remaining=0, reset=20`, later `"day";r=0;t=20`, of several policies. */
function spentPolicies(text: string): number | null {
  const policies = /\breset=/.test(text) ? [text] : text.split(',');
  const waits = policies.flatMap((policy) => {
    const left = /\b(?:remaining|r)=(\d+)/.exec(policy)?.[1];
    const seconds = /\b(?:reset|t)=(\d{1,15})/.exec(policy)?.[1];
    return seconds === undefined || Number(left ?? 0) > 0 ? [] : [Number(seconds) * 1_000];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/** @returns null: in no known form. */
function pauseIn(text: string, unitMs: number, clockMs: number): number | null {
  const number = /^(-?\d{1,20}(?:\.\d+)?)(?:\s*,\s*\d[\d.]*)*$/.exec(text)?.[1];
  if (number !== undefined) return unitMs === 1 ? Number(number) : secondsOrEpoch(Number(number), clockMs);
  const time = timeIn(text);
  return time === null ? durationIn(text) : time - clockMs;
}

/** A pause of thirty years is implausible: such a number is a time, in seconds, milliseconds or microseconds since 1970. */
function secondsOrEpoch(number: number, clockMs: number): number {
  const perMs = number >= 1e17 || number < 1e9 ? null : number < 1e11 ? 1e-3 : number < 1e14 ? 1 : 1e3;
  return perMs === null ? number * 1_000 : number / perMs - clockMs;
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** An HTTP date, which starts with the name of a day, or an ISO time: in UTC, unless it has an offset. */
function timeIn(text: string): number | null {
  const [, date, time, offset = 'Z'] = ISO_TIME.exec(text) ?? [];
  const zone = /^[+-]\d\d$/.test(offset) ? `${offset}:00` : offset;
  const parsed = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(parsed) ? null : parsed;
}

const UNITS: ReadonlyArray<readonly [names: RegExp, ms: number]> = [
  [/^(ms|msecs?|millis|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?|秒)$/, 1_000],
  [/^(m|mins?|minutes?|分钟?)$/, 60_000],
  [/^(h|hrs?|hours?|小时)$/, 3_600_000],
  [/^(d|days?|天)$/, 86_400_000],
];
const DURATION = /(\d{1,15}(?:\.\d+)?)\s*([a-z秒分钟小时天]+)[\s,]*/gy;

/** `20s`, `1m30s`, `20 seconds`, `PT20S`, `00:00:20`. */
function durationIn(text: string): number | null {
  const [, hours, minutes, seconds] = /^(\d{1,3}):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text) ?? [];
  if (seconds !== undefined) return (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000;
  const plain = text.toLowerCase().replace(/^pt(?=\d)/, '');
  const parts = [...plain.matchAll(DURATION)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  const waits = parts.map(([, amount, word = '']) => {
    const [, ms] = UNITS.find(([names]) => names.test(word)) ?? [];
    return Number(amount) * (ms ?? Number.NaN);
  });
  const total = waits.reduce((sum, wait) => sum + wait, 0);
  return parts.length === 0 || read !== plain.length || Number.isNaN(total) ? null : total;
}

/** Of a repeated header the first value counts. Quotes and parameters are removed. */
function textOf(header: string | readonly string[] | undefined): string {
  const text = (typeof header === 'string' ? header : (header?.[0] ?? '')).trim();
  return text.length > MAX_CHARS ? '' : text.replace(/^"([^"]*)"$/, '$1');
}
