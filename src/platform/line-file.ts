// An append-only file of lines that never blocks, never throws and never grows in memory: the destination of logger.ts.
//
// Lines are buffered and written together, at 32 KiB or 100 ms after the first. Only one write runs at a time; lines that arrive
// meanwhile form the next one. So a line is in the file, buffered, or counted as dropped, and never two of these. A line becomes
// bytes at once: as a string it would consist of the dozens of pieces that the serializer joined, which the garbage collector
// copies for as long as they wait.
//
// - A write that fails (disk full, I/O error) is retried from the byte where it ended, four times a second. Lines are buffered up
//   to a limit; lines above it are dropped and counted. onProblem reports the start and the end of the problem; the owner then
//   logs the number of missing lines.
// - reopen() switches to a new descriptor between two writes. While writes fail it switches at once, or the space of a rotated
//   and removed file would never be freed; a line cut in the middle is written again as a whole.
// - A file that was removed, alone or with its directory, receives bytes that no one can read. So its name is checked once a
//   second, even without new lines; if it has none, it is created again, and lines since the last check count as dropped.
//
// Why not sonic-boom, pino's own destination: it writes one 16 KiB piece per turn of the event loop, so a busy process falls
// behind and drops lines; after a failed write it retries at every line; end() on a full disk never ends; and a failed reopen()
// makes the next one close the same descriptor twice.
import { close, write } from 'node:fs';
import { closeQuietly, linesIn, openAgain, openForAppend, wasRemoved } from './append-file.ts';
import { messageOf } from './errors.ts';

interface LineFileOptions {
  /** A path is appended to and can be reopened; a descriptor (standard output) is neither reopened nor closed. */
  readonly target: string | number;
  /** Called with one sentence for the operator, for a channel other than this file. */
  readonly onProblem: (message: string) => void;
  /** Called when writing works again, with the number of missing lines. */
  readonly onRecovered: (dropped: number, reason: string) => void;
  /** Maximum of buffered bytes; the write in progress may hold as much again. Default 4 Mi. */
  readonly maxWaiting?: number;
}

const WRITE_AT = 32 * 1024;
const FLUSH_MS = 100;
const RETRY_MS = 250;
/** A pipe takes 64 KiB at a time. */
const PIPE_RETRY_MS = 10;
const CLOSE_TIMEOUT_MS = 2_000;
/** Interval of the check whether the file still has a name. */
const LOOK_MS = 1_000;
const NEWLINE = 0x0a;
/** Buffer memory that is reused; a larger buffer is freed. */
const MEMORY_BYTES = 256 * 1024;
/** UTF-8 takes at most three bytes for each of a string's characters (UTF-16 units). */
const MAX_BYTES_A_CHARACTER = 3;

export class LineFile {
  readonly #options: LineFileOptions;
  readonly #maxWaiting: number;
  #fd: number;
  #nextFd: number | null = null;
  /** The buffer of waiting lines. */
  #memory = Buffer.allocUnsafe(MEMORY_BYTES);
  /** Number of waiting bytes. */
  #waiting = 0;
  /** The memory of the chunk, while there is one. */
  #chunkMemory = Buffer.allocUnsafe(MEMORY_BYTES);
  /** The bytes of the current write, or of the failed one. */
  #chunk: Buffer | null = null;
  #offset = 0;
  /** busy: the only system call is running; failing: the last one failed and the timer repeats it. */
  #state: 'resting' | 'busy' | 'failing' = 'resting';
  /** closing: accepts no more lines, and writes the buffered ones; closed: the descriptor is closed, too. */
  #life: 'open' | 'closing' | 'closed' = 'open';
  #timer: NodeJS.Timeout | undefined;
  #trouble: string | null = null;
  #dropped = 0;
  #droppedBefore = 0;
  #looks: NodeJS.Timeout | undefined;
  #lookDue = false;
  /** Number of lines written since the last check. */
  #linesSinceLook = 0;
  #idle: Array<() => void> = [];

  /** Opens the file, mode 0640. @throws the system's error. */
  constructor(options: LineFileOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaiting ?? 4 * 1024 * 1024;
    this.#fd = typeof options.target === 'number' ? options.target : openForAppend(options.target);
    if (typeof options.target === 'string')
      this.#looks = setInterval(() => this.#lookSoon(), LOOK_MS).unref();
  }

  /** Number of lines that were dropped since the start. */
  get dropped(): number {
    return this.#droppedBefore + this.#dropped;
  }

  /** Why lines are buffered or dropped, with the file; null while writing works. */
  get trouble(): string | null {
    return this.#trouble === null ? null : `${this.#name}: ${this.#trouble}`;
  }

  /** Accepts a line that ends with a newline. Has no effect after close(). */
  write(line: string): void {
    if (this.#life !== 'open') return;
    if (this.#waiting + line.length > this.#maxWaiting) {
      this.#dropped += 1;
      if (this.#trouble === null) this.#inTrouble('it is not written as fast as lines come');
      return;
    }
    const needed = this.#waiting + line.length * MAX_BYTES_A_CHARACTER;
    if (needed > this.#memory.length) this.#grow(needed);
    this.#waiting += this.#memory.write(line, this.#waiting);
    if (this.#state !== 'resting') return;
    if (this.#waiting >= WRITE_AT) this.#writeNext();
    else this.#timer ??= setTimeout(() => this.#writeNext(), FLUSH_MS);
  }

  /** Opens the path again, after a rotation renamed the file. If that fails, the current file stays in use. */
  reopen(): void {
    const { target, onProblem } = this.#options;
    if (this.#life !== 'open' || typeof target === 'number') return;
    try {
      const fd = openForAppend(target);
      if (this.#nextFd !== null) closeQuietly(this.#nextFd);
      this.#nextFd = fd;
    } catch (error) {
      onProblem(`${target} cannot be reopened, the present file stays in use: ${messageOf(error)}`);
      return;
    }
    if (this.#state === 'busy') return; // #written switches to the new descriptor
    this.#takeNextFd();
    if (this.#state === 'failing') this.#writeNext();
  }

  /** Resolves when all lines so far are written, or as soon as a write fails. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      if (this.#state !== 'busy') this.#writeNext();
    });
  }

  /** Writes the buffered lines, for at most 2 s, and closes the file. */
  async close(): Promise<void> {
    if (this.#life !== 'open') return;
    this.#life = 'closing';
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([this.flush(), timeout]);
    this.#life = 'closed';
    clearTimeout(timer);
    clearTimeout(this.#timer);
    clearInterval(this.#looks);
    const waiting = this.#memory.subarray(0, this.#waiting);
    const lost = this.#dropped + linesIn(waiting) + linesIn(this.#chunk?.subarray(this.#offset));
    if (lost > 0) this.#options.onProblem(`${this.#name}: log lines lost at the end: ${lost}`);
    if (typeof this.#options.target !== 'number') await new Promise((resolve) => close(this.#fd, resolve));
  }

  get #name(): string {
    const { target } = this.#options;
    return typeof target === 'number' ? 'standard output' : target;
  }

  #grow(needed: number): void {
    const memory = Buffer.allocUnsafe(2 * needed);
    this.#memory.copy(memory, 0, 0, this.#waiting);
    this.#memory = memory;
  }

  #writeNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lookDue) {
      this.#look();
      return;
    }
    if (this.#chunk === null) {
      if (this.#waiting === 0) {
        this.#settleIdle();
        return;
      }
      this.#chunk = this.#memory.subarray(0, this.#waiting);
      this.#offset = 0;
      [this.#memory, this.#chunkMemory] = [this.#chunkMemory, this.#memory];
      this.#waiting = 0;
    }
    this.#state = 'busy';
    const { length } = this.#chunk;
    write(this.#fd, this.#chunk, this.#offset, length - this.#offset, null, (error, written) => {
      if (this.#life === 'closed') return;
      if (error === null) this.#written(written);
      else this.#failed(error);
    });
  }

  #lookSoon(): void {
    this.#lookDue = true;
    if (this.#state !== 'busy' && this.#timer === undefined) this.#writeNext();
  }

  #look(): void {
    this.#state = 'busy';
    wasRemoved(this.#fd, (removed) => {
      if (this.#life === 'closed') return;
      try {
        if (removed) {
          this.#dropped += this.#linesSinceLook;
          this.#linesSinceLook = 0;
          this.#nextFd ??= openAgain(String(this.#options.target));
          if (this.#trouble === null && this.#dropped > 0) this.#inTrouble('the file was removed');
          this.#takeNextFd();
        }
      } catch (error) {
        this.#failed(error as NodeJS.ErrnoException);
        return;
      }
      this.#lookDue = false;
      this.#linesSinceLook = 0;
      this.#state = 'resting';
      this.#writeNext();
    });
  }

  #written(bytes: number): void {
    this.#offset += bytes;
    if (this.#chunk !== null && this.#offset < this.#chunk.length) {
      this.#writeNext();
      return;
    }
    this.#linesSinceLook += linesIn(this.#chunk ?? undefined);
    this.#chunk = null;
    if (this.#chunkMemory.length > MEMORY_BYTES) this.#chunkMemory = Buffer.allocUnsafe(MEMORY_BYTES);
    this.#state = 'resting';
    this.#takeNextFd();
    if (this.#trouble !== null) this.#recovered(this.#trouble);
    if (this.#waiting >= WRITE_AT || this.#idle.length > 0) this.#writeNext();
    else if (this.#waiting > 0) this.#timer ??= setTimeout(() => this.#writeNext(), FLUSH_MS);
  }

  #failed(error: NodeJS.ErrnoException): void {
    const readerIsBehind = error.code === 'EAGAIN'; // standard output is a full pipe, which is not a failure
    this.#state = 'failing';
    if (!readerIsBehind) {
      this.#inTrouble(messageOf(error));
      this.#settleIdle();
    }
    this.#takeNextFd();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#writeNext(), readerIsBehind ? PIPE_RETRY_MS : RETRY_MS);
    this.#timer.unref();
  }

  #takeNextFd(): void {
    if (this.#nextFd === null) return;
    closeQuietly(this.#fd);
    this.#fd = this.#nextFd;
    this.#nextFd = null;
    const cut = this.#chunk?.subarray(this.#lineStart());
    if (cut === undefined) return;
    this.#chunk = cut;
    this.#offset = 0;
  }

  /** Start of the cut line in the chunk. */
  #lineStart(): number {
    return this.#offset === 0 ? 0 : (this.#chunk?.lastIndexOf(NEWLINE, this.#offset - 1) ?? -1) + 1;
  }

  #inTrouble(reason: string): void {
    if (this.#trouble === reason) return;
    this.#trouble = reason;
    this.#options.onProblem(`${this.#name}: log lines wait and then are dropped: ${reason}`);
  }

  #recovered(reason: string): void {
    const dropped = this.#dropped;
    this.#trouble = null;
    this.#droppedBefore += dropped;
    this.#dropped = 0;
    this.#options.onProblem(`${this.#name}: written again; log lines dropped: ${dropped}`);
    if (dropped > 0) this.#options.onRecovered(dropped, reason);
  }

  #settleIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
