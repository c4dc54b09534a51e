// A log file as the walk lists it, and as a task of the plan: what one scan is given.
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
