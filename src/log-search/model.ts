// The shared types of a log search. The request: the options of the command line, and the Query that parse-query.ts makes of
// them, which can be copied to a worker thread. A log file: as the walk lists it, as a task of the plan (the input of one scan),
// and as notices in the report (docs/log-search.md lists the codes). A hit as it is stored.
import type { InterfaceName } from '../domain/gateway-interface.ts';
import type { OwnSigns } from './match/interface-rules.ts';
import type { TimeSpan } from './time/line-clock.ts';

/** `auto` uses the fastest library that works here, `zlib-sync` that package, `node` only documented functions of Node. */
export type InflateChoice = 'auto' | 'zlib-sync' | 'node';

export const LOG_FORMATS = ['text', 'json', 'jsonl'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/**
 * How far out of order lines may be: several writers, clocks set back by an hour. So the file before a day is nearly always read.
 */
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
  /** Signs of an interface in the user's own logs, in addition to the table. */
  readonly ownSigns?: OwnSigns | undefined;
  /** Only the request path decides about the interface. */
  readonly strict?: boolean | undefined;
  readonly countOnly?: boolean | undefined;
  /** Default 5. */
  readonly samples?: number | undefined;
  /** Keeps every hit for `records()` of the report. */
  readonly all?: boolean | undefined;
  /** Also find the other lines of the hits' requests. */
  readonly trace?: boolean | undefined;
  /** Default true: skip files and ends of files outside the window. */
  readonly prune?: boolean | undefined;
  /** Default: one per processor. 1: only the main thread. Only tests set it. */
  readonly threads?: number | undefined;
  /** Default: auto. Only tests set it. */
  readonly inflate?: InflateChoice | undefined;
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

export interface FoundFile {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  /** Kept open until the search ends, so that a rotation cannot remove the file; null: opened later by its path. */
  readonly fd: number | null;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface FileTask extends FoundFile {
  /** Position in the plan, from 0. Names the file in hits and results, and orders hits of the same instant. */
  readonly number: number;
}

/**
 * The effect of a notice about a file. damaged: parts were not searched; unread: the whole file was not searched; unclear: it was
 * searched, and some hits are not counted or may be missing; complete: nothing is missing.
 */
export const NOTICES = {
  truncated: 'damaged', // gzip data that ends too early, or is still being written; the existing part was searched
  corrupt: 'damaged', // gzip data that cannot be inflated from some byte on
  crc_mismatch: 'damaged', // gzip data with a wrong checksum or length
  trailing_garbage: 'damaged', // bytes after gzip data that are not gzip data
  not_searched: 'unread', // neither text nor text in gzip
  denied: 'unread', // no permission
  vanished: 'unread', // gone before it was opened
  shrunk: 'damaged', // became shorter while it was read
  read_error: 'unread', // the system reported an error
  undated: 'unclear', // lines of the card without a readable time, in a search with a window
  several_records: 'unclear', // lines of the card that may contain several records, and are counted once
  inside_number: 'unclear', // lines that contain the card only inside a longer number, and are not counted
  long_line: 'unclear', // a line that is too long to be kept, also one in parts as container runtimes write them
  repeated_hour: 'complete', // lines with a time that occurs twice, as clocks go back, and is in the window only once
  duplicate: 'complete', // holds the same data as another file and was not counted
  dangling_link: 'complete', // a link to nothing
} as const;

export type NoticeCode = keyof typeof NOTICES;

export interface Notice {
  readonly path: string;
  readonly code: NoticeCode;
  readonly detail: string;
}

/** A notice before the file's path is added. */
export type FileProblem = Omit<Notice, 'path'>;

export function isIncomplete(notice: Pick<Notice, 'code'>): boolean {
  return NOTICES[notice.code] !== 'complete';
}

export interface Hit {
  /** Number of the file's task. */
  readonly file: number;
  /** Position of the line in the file's inflated data. */
  readonly offset: number;
  /** Infinity if the line has no readable time. */
  readonly timeMs: number;
  readonly interfaces: readonly InterfaceName[];
  /** The line's bytes, without newline. */
  readonly line: Buffer;
  /** True when the line is longer than the stored part. */
  readonly cut: boolean;
}

/** The counts of the hits of a file, or of all files. */
export class HitCounts {
  /** In a search with a window, without undated lines. */
  hits = 0;
  /** Lines of the card without a readable time. */
  undated = 0;
  /** Hits whose own line has a time. */
  dated = 0;
  /** Hits with the time of the record that they continue. */
  continued = 0;
  /** Hits whose zone name is ambiguous. */
  ambiguous = 0;
  firstMs: number | null = null;
  lastMs: number | null = null;
  /** A hit may belong to several; `other`: hits without an interface. */
  readonly byInterface: Record<string, number> = {};
}

/** A hit as it is reported. */
export interface FoundLine extends Pick<Hit, 'timeMs' | 'interfaces' | 'line' | 'cut'> {
  readonly path: string;
}

/** Lines from a worker thread are plain byte arrays, without the methods of Buffer. */
export function toFoundLine({ timeMs, interfaces, line, cut }: Hit, path: string): FoundLine {
  const { buffer, byteOffset, length } = line;
  return { path, timeMs, interfaces, line: Buffer.from(buffer, byteOffset, length), cut };
}

/** The fields that order hits. */
export type HitOrder = Pick<Hit, 'timeMs' | 'file' | 'offset'>;

/** Time order; lines of the same instant in the order of their files. */
export function compareHits(a: HitOrder, b: HitOrder): number {
  return a.timeMs - b.timeMs || a.file - b.file || a.offset - b.offset;
}

/** A line as text: UTF-8, unless most of its characters are invalid and GBK has fewer invalid ones. */
export function textOf(line: Uint8Array): string {
  const utf8 = new TextDecoder().decode(line);
  const unknown = countOf(utf8, UNKNOWN);
  if (unknown <= countOf(utf8, KNOWN)) return utf8;
  const gbk = new TextDecoder('gbk').decode(line);
  return countOf(gbk, UNKNOWN) < unknown ? gbk : utf8;
}

const UNKNOWN = /\uFFFD/g;
const KNOWN = /[^\0-\x7f\uFFFD]/gu;

function countOf(text: string, characters: RegExp): number {
  return text.match(characters)?.length ?? 0;
}
