// A log file: as the walk lists it, as a task of the plan (what one scan is given), and what a search reports about it
// besides its hits (docs/log-search.md lists the codes).
import type { TimeSpan } from '../time/line-clock.ts';

export interface FoundFile {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  /** Epoch milliseconds. Without a birth time in the file system, Node may give a later time: a changed file then counts as gone. */
  readonly bornMs: number;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface FileTask extends FoundFile {
  /** Position in the plan, from 0. Names the file in hits and results, and orders hits of the same instant. */
  readonly number: number;
  /** The time of a line when neither it nor any other line of the file has one. */
  readonly fallback: TimeSpan;
}

/** Identifies a file across renames. The inode alone is not enough: the system soon gives it to another file. */
export function fileId({ dev, ino, bornMs }: Pick<FoundFile, 'dev' | 'ino' | 'bornMs'>): string {
  return `${dev}:${ino}:${bornMs}`;
}

/** With true the result may be incomplete. */
const MAY_BE_INCOMPLETE = {
  truncated: true, // gzip data that ends too early, or is still being written; the existing part was searched
  corrupt: true, // gzip data that cannot be inflated from some byte on
  crc_mismatch: true, // gzip data with a wrong checksum or length
  trailing_garbage: true, // bytes after gzip data that are not gzip data
  not_searched: true, // an unsupported compression format
  denied: true, // no permission
  vanished: true, // gone before it was read
  shrunk: true, // became shorter while it was read
  read_error: true, // the system reported an error
  long_line: false, // a line is longer than the part that is kept
  duplicate: false, // holds the same data as another file and was not counted
  dangling_link: false, // a link to nothing
} as const;

export type NoticeCode = keyof typeof MAY_BE_INCOMPLETE;

export interface Notice {
  readonly path: string;
  readonly code: NoticeCode;
  readonly detail: string;
}

/** A notice before the file's path is added. */
export type FileProblem = Omit<Notice, 'path'>;

export function isIncomplete(notice: Pick<Notice, 'code'>): boolean {
  return MAY_BE_INCOMPLETE[notice.code];
}
