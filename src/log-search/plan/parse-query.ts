// Checks what is searched for: the words of the command line become a Query. Used by search.ts. Every refusal says what
// to type instead.
import {
  INTERFACE_ALIASES,
  INTERFACE_NAMES,
  INTERFACES,
  type InterfaceName,
} from '../../domain/gateway-interface.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Query, SearchOptions } from '../model/query.ts';
import type { TimeSpan } from '../time/line-clock.ts';
import { parseTimeValue } from '../time/timestamps.ts';
import { Zone } from '../time/zone.ts';

const DEFAULT_SAMPLES = 5;
const LONGEST_CARD = 64;

/** @throws CardpollError `usage`. */
export function parseQuery(options: SearchOptions): Query {
  const zone = new Zone(options.tz ?? null);
  return {
    card: checkCard(options.iccid),
    interface: options.interface === undefined ? null : interfaceOf(options.interface),
    ownSigns: options.ownSigns ?? {},
    strict: options.strict ?? false,
    window: windowOf(options, zone),
    zone: options.tz ?? null,
    keep: options.all || options.trace ? 'all' : options.countOnly ? 'count' : 'samples',
    samples: options.samples ?? DEFAULT_SAMPLES,
    prune: options.prune ?? true,
    inflate: options.inflate ?? 'auto',
  };
}

function checkCard(iccid: string): string {
  const card = iccid.trim();
  if (/^\d+$/.test(card) && card.length <= LONGEST_CARD) return card;
  throw new CardpollError('usage', 'bad_iccid', `'${iccid}' is not a card id: digits only`, {
    hint: 'type --iccid 8986001234567890123, or any part of it',
  });
}

/** @throws CardpollError `usage` / `unknown_interface`. */
export function interfaceOf(alias: string): InterfaceName {
  const found = INTERFACE_NAMES.find((name) => name === alias || INTERFACES[name].aliases.includes(alias));
  if (found !== undefined) return found;
  throw new CardpollError('usage', 'unknown_interface', `'${alias}' is not an interface`, {
    hint: `type one of ${INTERFACE_ALIASES.join(', ')}`,
  });
}

function windowOf({ date, since, until, nowMs }: SearchOptions, zone: Zone): TimeSpan | null {
  if (date === undefined && since === undefined && until === undefined) return null;
  const day = date === undefined ? null : parseDay(date, zone);
  const now = nowMs ?? Date.now();
  const from = since === undefined ? Number.NEGATIVE_INFINITY : parseInstant('--since', since, zone, now);
  const to = until === undefined ? Number.POSITIVE_INFINITY : parseInstant('--until', until, zone, now);
  const window = {
    fromMs: Math.max(from, day?.fromMs ?? Number.NEGATIVE_INFINITY),
    toMs: Math.min(to, day?.toMs ?? Number.POSITIVE_INFINITY),
  };
  if (window.fromMs < window.toMs) return window;
  throw new CardpollError('usage', 'empty_window', 'the time window is empty: it ends before it begins', {
    hint: '--until is the first instant that is not searched and must be later than --since',
  });
}

function parseDay(date: string, zone: Zone): TimeSpan {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date);
  const day = match === null ? null : zone.dayOf(Number(match[1]), Number(match[2]), Number(match[3]));
  if (day !== null) return day;
  throw new CardpollError('usage', 'bad_date', `'${date}' is not a day`, { hint: 'type --date 2026-02-01' });
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseInstant(flag: string, text: string, zone: Zone, nowMs: number): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * (UNIT_MS[ago[2] ?? 's'] ?? 0);
  const completed = text
    .replace(/^(\d{4}-\d\d-\d\d)$/, '$1 00:00:00')
    .replace(/^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(?=$|[Zz+-])/, '$1:00');
  const isWhole =
    /^\d+(\.\d+)?$|^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.,]\d{1,9})?( ?[+-]\d\d(:?\d\d)?|[Zz])?$/;
  const instant = isWhole.test(completed) ? parseTimeValue(completed, zone) : undefined;
  if (instant !== undefined) return instant;
  throw new CardpollError('usage', 'bad_time', `${flag}: '${text}' is not a time`, {
    hint: `type ${flag} '2026-02-01 10:00', ${flag} 2026-02-01T10:00:00+08:00 or ${flag} 2h for two hours ago`,
  });
}
