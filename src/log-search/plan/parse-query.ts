// Checks the search options: turns the words of the command line into a Query. Used by search.ts. Every refusal names the correct
// input.
import {
  INTERFACE_ALIASES,
  INTERFACE_NAMES,
  INTERFACES,
  type InterfaceName,
} from '../../domain/gateway-interface.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { Query, SearchOptions } from '../model.ts';
import type { TimeSpan } from '../time/line-clock.ts';
import { type Edge, TYPED_TIMES, typedDay, typedTime } from '../time/typed-time.ts';
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
    keep: options.countOnly ? 'count' : options.all || options.trace ? 'all' : 'samples',
    samples: options.samples ?? DEFAULT_SAMPLES,
    prune: options.prune ?? true,
    inflate: options.inflate ?? 'auto',
  };
}

function checkCard(iccid: string): string {
  const card = iccid.trim();
  if (/^\d+$/.test(card) && card.length <= LONGEST_CARD) return card;
  throw new CardpollError('usage', 'bad_iccid', `'${iccid}' is not a card id: digits only`, {
    hint: 'type --iccid 8986001234567890123, or up to 18 digits of it',
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

function windowOf({ date, since, until }: SearchOptions, zone: Zone): TimeSpan | null {
  if (date === undefined && since === undefined && until === undefined) return null;
  const now = Date.now();
  const day = date === undefined ? null : parseDay(date, zone, now);
  const from = since === undefined ? Number.NEGATIVE_INFINITY : parseInstant('since', since, zone, now);
  const to = until === undefined ? Number.POSITIVE_INFINITY : parseInstant('until', until, zone, now);
  const window = {
    fromMs: Math.max(from, day?.fromMs ?? Number.NEGATIVE_INFINITY),
    toMs: Math.min(to, day?.toMs ?? Number.POSITIVE_INFINITY),
  };
  if (window.fromMs < window.toMs) return window;
  throw new CardpollError(
    'usage',
    'empty_window',
    'the time window is empty: its end is not after its beginning',
    { hint: '--until is the first instant that is not searched and must be later than --since' },
  );
}

function parseDay(date: string, zone: Zone, nowMs: number): TimeSpan {
  const day = typedDay(date, zone, nowMs);
  if (day !== null) return day;
  throw new CardpollError('usage', 'bad_date', `'${date}' is not a day`, {
    hint: 'type --date 2026-02-01, --date today or --date yesterday',
  });
}

function parseInstant(edge: Edge, text: string, zone: Zone, nowMs: number): number {
  const flag = `--${edge}`;
  const instant = typedTime(text, zone, nowMs, edge);
  if (instant !== null) return instant;
  throw new CardpollError('usage', 'bad_time', `${flag}: '${text}' is not a time`, {
    hint: `type ${flag} ${TYPED_TIMES}`,
  });
}
