// What a search is asked for: the options as the command line gives them, and the Query that parse-query.ts makes of
// them, which can be copied to a worker thread as it is.
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { OwnSigns } from '../match/interface-rules.ts';
import type { TimeSpan } from '../time/line-clock.ts';

/** `auto` takes the fastest library that works here, `zlib-sync` that package, `node` only what Node documents. */
export const INFLATE_CHOICES = ['auto', 'zlib-sync', 'node'] as const;
export type InflateChoice = (typeof INFLATE_CHOICES)[number];

export const LOG_FORMATS = ['text', 'json', 'jsonl'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** How far out of order lines may be: several writers, clocks set back by an hour. */
export const SLACK_MS = 2 * 3_600_000;

export interface SearchOptions {
  /** Directories or files; nested and repeated ones count once. */
  readonly roots: readonly string[];
  /** The card's digits. */
  readonly iccid: string;
  /** Day to search, YYYY-MM-DD. */
  readonly date?: string | undefined;
  /** RFC 3339, `YYYY-MM-DD[ HH:MM[:SS]]` in the zone, epoch, or a duration before now: 30m, 2h, 3d. `until` is exclusive. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** IANA name or offset; default: the process's zone. */
  readonly tz?: string | undefined;
  /** An alias of the operations interface, section 1.2. */
  readonly interface?: string | undefined;
  /** Signs of an interface in the user's own logs, besides those of the table. */
  readonly ownSigns?: OwnSigns | undefined;
  /** Only the request path decides about the interface. */
  readonly strict?: boolean | undefined;
  readonly countOnly?: boolean | undefined;
  /** Default 5. */
  readonly samples?: number | undefined;
  /** Keep every hit for `records()` of the report. */
  readonly all?: boolean | undefined;
  /** Also find the other lines of the hits' requests. */
  readonly trace?: boolean | undefined;
  /** Default true: skip files and ends of files outside the window. */
  readonly prune?: boolean | undefined;
  /** Default: one per processor. 1: only the main thread. */
  readonly threads?: number | undefined;
  /** Default: auto. */
  readonly inflate?: InflateChoice | undefined;
  /** Directory of the indexes; null: use none. */
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

/** Which hits are kept. */
type Keep = 'count' | 'samples' | 'all';

export interface Query {
  readonly card: string;
  readonly interface: InterfaceName | null;
  readonly ownSigns: OwnSigns;
  readonly strict: boolean;
  readonly window: TimeSpan | null;
  /** null: the zone of the process. */
  readonly zone: string | null;
  readonly keep: Keep;
  readonly samples: number;
  readonly prune: boolean;
  readonly inflate: InflateChoice;
}
