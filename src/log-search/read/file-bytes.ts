// Reads a log file by position. Used by all code that reads log files. The size of a file is its size at opening: data that is
// appended later is not read, and a truncation is noticed.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { FoundFile } from '../model.ts';

export class FileBytes {
  /** Bytes read so far. */
  read = 0;
  /** True when the file ended before its size. */
  shrunk = false;

  private constructor(
    readonly fd: number,
    readonly size: number,
    private readonly isShared = false,
  ) {}

  /**
   * Null when the path is not (or no longer) a regular file, or not the known one.
   * @throws the system's error, for example ENOENT or EACCES.
   */
  static open(path: string, known?: Pick<FoundFile, 'dev' | 'ino'>): FileBytes | null {
    // Non-blocking: a FIFO put in the file's place must not hang the search.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      const isKnown = known === undefined || (stat.dev === known.dev && stat.ino === known.ino);
      if (stat.isFile() && isKnown) return new FileBytes(fd, stat.size);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return null;
  }

  /** Opens a listed file under its current name. Null and errors as in `open`. */
  static of(file: FoundFile): FileBytes | null {
    if (file.fd === null) return FileBytes.open(file.path, file);
    return new FileBytes(file.fd, fstatSync(file.fd).size, true);
  }

  /** The bytes at `offset`, at most as many as `into` holds; fewer only at the end. A view of `into`. */
  readAt(offset: number, into: Buffer): Buffer {
    const wanted = Math.min(into.length, Math.max(0, this.size - offset));
    let have = 0;
    while (have < wanted) {
      const count = readSync(this.fd, into, have, wanted - have, offset + have);
      if (count === 0) {
        this.shrunk = true;
        break;
      }
      have += count;
    }
    this.read += have;
    return into.subarray(0, have);
  }

  [Symbol.dispose](): void {
    if (!this.isShared) closeSync(this.fd);
  }
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR');
}

export function isDenied(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

const WINDOW_BYTES = 131_072;

/**
 * Reads a file from front to back in blocks, however small the requested pieces: logs with a hundred thousand tiny gzip
 * members are read once, not three times per member.
 */
export class FileWindow {
  readonly #room = Buffer.allocUnsafe(WINDOW_BYTES);
  #block: Buffer = this.#room.subarray(0, 0);
  #start = 0;

  constructor(private readonly file: FileBytes) {}

  /** Bytes at `offset`, at most as many as `wanted`, none only at the end of the file; valid until the next call. */
  some(offset: number, wanted: number): Buffer {
    if (this.#from(offset).length === 0) this.#read(offset);
    return this.#from(offset).subarray(0, wanted);
  }

  /** All `wanted` bytes at `offset`, at most a block; fewer only at the end of the file; valid until the next call. */
  all(offset: number, wanted: number): Buffer {
    if (this.#from(offset).length < wanted) this.#read(offset);
    return this.#from(offset).subarray(0, wanted);
  }

  /** The part of the block from `offset` on. */
  #from(offset: number): Buffer {
    const at = offset - this.#start;
    return at < 0 ? this.#block.subarray(0, 0) : this.#block.subarray(at);
  }

  #read(offset: number): void {
    this.#start = offset;
    this.#block = this.file.readAt(offset, this.#room);
  }
}
