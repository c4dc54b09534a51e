// What is searched for, checked once: the words of the command line become a Query that can be handed to a worker
// thread as it is. Used by search.ts. Every refusal says what to type instead.

import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { CardpollError } from '../../platform/errors.ts';
import { interfaceOf, type OwnSigns } from '../match/interface-alias.ts';
import type { InflateChoice } from '../read/gzip/choose-library.ts';
import type { TimeSpan } from '../time/line-clock.ts';
import { parseTimeValue } from '../time/timestamps.ts';
import { Zone } from '../time/zone.ts';

export interface SearchOptions {
  /** Directories or files; nested and repeated ones count once. */
  readonly roots: readonly string[];
  /** The card's digits. */
  readonly iccid: string;
  /** YYYY-MM-DD. */
  readonly date?: string | undefined;
  /** RFC 3339, `YYYY-MM-DD[ HH:MM[:SS]]` in the zone, epoch, or how long ago: 30m, 2h, 3d. `until` is exclusive. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** IANA name or offset; default: the process's zone. */
  readonly tz?: string | undefined;
  /** An alias of the operations interface, section 1.2. */
  readonly interface?: string | undefined;
  /** By what lines belong to an interface, besides the signs that everybody's have. */
  readonly ownSigns?: OwnSigns | undefined;
  /** Only the request path decides about the interface. */
  readonly strict?: boolean | undefined;
  readonly countOnly?: boolean | undefined;
  /** Default 5. */
  readonly samples?: number | undefined;
  /** Keep every hit, for `records()` of the report. */
  readonly all?: boolean | undefined;
  /** Also find the other lines of the hits' requests. */
  readonly trace?: boolean | undefined;
  /** Default true: leave out files and ends of files that lie outside the window. */
  readonly prune?: boolean | undefined;
  /** Default: one a processor. 1 stays on the main thread. */
  readonly threads?: number | undefined;
  /** Default: auto. */
  readonly inflate?: InflateChoice | undefined;
  /** Where indexes are kept; null: use none. */
  readonly cacheDir?: string | null | undefined;
  readonly nowMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Progress {
  /** Bytes on disk. */
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** How much of the hits is kept. */
type Keep = 'count' | 'samples' | 'all';

export interface Query {
  readonly card: string;
  readonly interface: InterfaceName | null;
  readonly ownSigns: OwnSigns;
  readonly strict: boolean;
  readonly window: TimeSpan | null;
  /** null: the process's. */
  readonly zone: string | null;
  readonly keep: Keep;
  readonly samples: number;
  readonly prune: boolean;
  readonly inflate: InflateChoice;
}

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
