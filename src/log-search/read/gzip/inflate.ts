// Inflates a gzip file with any number of members and any damage, and reports its problems. Used by scan-file.ts. All data that
// can be inflated is passed on; after damage it searches for the next member. The fast libraries report errors and ends
// incompletely, so a member that they inflate counts only when its trailer (checksum and length) follows its end.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileProblem, InflateChoice, NoticeCode } from '../../model.ts';
import { type FileBytes, FileWindow } from '../file-bytes.ts';
import { crc32, findMember, HEADER_BYTES, readHeader, trailerOf } from './gzip-format.ts';
import { type Emit, fastLibrary, type Inflater, OUTPUT_BYTES, StreamInflater } from './inflaters.ts';

/** A slice of a zip bomb inflates to a thousand times its size. */
const MAX_SLICE_BYTES = 32_768;
const MIN_SLICE_BYTES = 2_048;
/** Leaves space for slices that inflate to more than the previous one. */
const WANTED_OUTPUT_BYTES = OUTPUT_BYTES / 2;
/** Other work of the thread (drawing progress, noticing Ctrl-C) gets a turn after this many slices. */
const SLICES_A_TURN = 64;
const SEARCH_BYTES = 1_048_576;

/** Receives the inflated data. */
interface InflateSink {
  /** The next data; valid only during the call. Returns false to stop. */
  data(chunk: Buffer): boolean;
  /** Whether to stop; called while there is no data to pass on for a long time. */
  isStopped(): boolean;
  /** Data is missing here: the next data does not continue the previous one. */
  gap(): void;
}

/** Thrown when the fast way failed: drop the data so far and inflate again with the choice `node`. */
export class Unverified extends Error {
  override readonly name = 'Unverified';
}

/**
 * @returns the problems of the file.
 * @throws Unverified, unless the choice is `node`.
 */
export async function inflateFile(
  file: FileBytes,
  sink: InflateSink,
  choice: InflateChoice,
): Promise<readonly FileProblem[]> {
  const walk = new MemberWalk(file, sink, choice);
  await walk.run();
  return [...walk.problems].map(([code, detail]) => ({ code, detail }));
}

/** How the data of a member ended; `cut`: at the end of the file. */
interface MemberEnd {
  readonly state: 'ended' | 'cut' | 'failed' | 'stopped';
  /** The last slice, and how many of its bytes belonged to the member; null: unknown. */
  readonly offset: number;
  readonly bytes: number;
  readonly endsAt: number | null;
}

/** Visits the members one after the other. */
class MemberWalk {
  /** The first problem of each code. */
  readonly problems = new Map<NoticeCode, string>();
  readonly #makeFast: ReturnType<typeof fastLibrary>;
  readonly #window: FileWindow;
  #offset = 0;
  #slices = 0;
  /** Checksum of the current member's data. */
  #crc = 0;
  #length = 0;

  constructor(
    private readonly file: FileBytes,
    private readonly sink: InflateSink,
    choice: InflateChoice,
  ) {
    this.#makeFast = fastLibrary(choice);
    this.#window = new FileWindow(file);
  }

  async run(): Promise<void> {
    if (this.file.size === 0) return this.#problem('truncated', 'empty, which no gzip file is');
    while (this.#offset < this.file.size) {
      const header = readHeader(this.#window, this.#offset);
      if (this.file.shrunk) return;
      if (typeof header === 'number') {
        if (!(await this.#member(this.#offset + header))) return;
      } else if (header === 'cut') {
        return this.#problem('truncated', `ends within a gzip header at byte ${this.#offset}`);
      } else if (this.#offset === 0) {
        this.#problem('corrupt', 'it does not begin as gzip does');
        if (!(await this.#findNext(1))) return;
      } else if (!(await this.#skipForeign())) {
        return;
      }
    }
  }

  /** Inflates the member whose data begins at `start`. @returns false at the end. */
  async #member(start: number): Promise<boolean> {
    [this.#crc, this.#length] = [0, 0];
    const emit = (data: Buffer) => {
      this.#crc = crc32(data, this.#crc);
      this.#length += data.length;
      return this.sink.data(data);
    };
    const fast = this.#makeFast?.(emit, this.file.size - start);
    const end = fast ? await this.#feed(fast, start) : await this.#feedStream(start, emit);
    if (end.state === 'stopped') return false;
    if (end.state === 'ended') return this.#checkTrailer(start, end, !fast);
    if (fast) throw new Unverified();
    if (end.state === 'cut') this.#problem('truncated', 'gzip data ends too early or is still being written');
    this.sink.gap();
    // The data of a cut-off member ran into the next member.
    return this.#findNext(this.#offset + 1);
  }

  /** Feeds slices, from `carefulFrom` on single bytes. */
  async #feed(inflater: Inflater, start: number, carefulFrom = Number.POSITIVE_INFINITY): Promise<MemberEnd> {
    let wanted = MIN_SLICE_BYTES;
    try {
      for (let offset = start; ; ) {
        const slice = this.#window.some(offset, Math.max(1, Math.min(wanted, carefulFrom - offset)));
        const bytes = slice.length;
        if (bytes === 0) return { state: 'cut', offset, bytes, endsAt: null };
        const lengthBefore = this.#length;
        const state = await inflater.push(slice);
        this.#slices += 1;
        if (this.#slices % SLICES_A_TURN === 0) await nextTurn();
        if (state !== 'open') return { state, offset, bytes, endsAt: inflater.endsAt };
        offset += bytes;
        wanted = nextSlice(bytes, this.#length - lengthBefore);
      }
    } finally {
      inflater.close();
    }
  }

  /**
   * Streams drop the output of a failing write, so the member is inflated again, with its last slice byte by byte: only data
   * after the damage is lost.
   */
  async #feedStream(start: number, emit: Emit): Promise<MemberEnd> {
    const end = await this.#feed(new StreamInflater(emit), start);
    if (end.state !== 'failed') return end;
    let toSkip = this.#length;
    const again = new StreamInflater((data) => {
      const fresh = data.subarray(Math.min(toSkip, data.length));
      toSkip -= data.length - fresh.length;
      return fresh.length === 0 || emit(fresh);
    });
    const failed = await this.#feed(again, start, end.offset);
    if (failed.state === 'failed') this.#problem('corrupt', `${again.reason} at byte ${failed.offset}`);
    return failed;
  }

  /** Checks the trailer of the data from `start` on, and moves past it. @returns false at the end. */
  async #checkTrailer(
    start: number,
    { offset, bytes, endsAt }: MemberEnd,
    isCareful: boolean,
  ): Promise<boolean> {
    const expected = trailerOf(this.#crc, this.#length);
    const at = endsAt === null ? this.#findTrailer(expected, offset, bytes) : offset + endsAt;
    const trailer = this.#window.all(at, expected.length);
    this.#offset = at + expected.length;
    if (trailer.equals(expected)) return true;
    if (!isCareful) throw new Unverified();
    if (trailer.length < expected.length) {
      this.#problem('truncated', 'gzip data ends before its checksum');
      return false;
    }
    this.#problem('crc_mismatch', `checksum or length at byte ${at} does not fit the data`);
    // The member was cut off, and by chance ended inside the next one, or its trailer would be that member's beginning.
    if (await this.#findNext(start, this.#offset)) this.sink.gap();
    return true;
  }

  /**
   * Finds the trailer of a member that ended somewhere in its last slice. A trailer after another header belongs to another
   * member with the same data.
   */
  #findTrailer(trailer: Buffer, offset: number, bytes: number): number {
    const slice = this.#window.all(offset, bytes + trailer.length);
    const at = slice.indexOf(trailer);
    if (at === -1 || findMember(slice.subarray(0, at), 0) !== -1) throw new Unverified();
    return offset + at;
  }

  /** Skips data that is not gzip. Zero padding is common and harmless; anything else gets a notice. */
  async #skipForeign(): Promise<boolean> {
    const zeros = Buffer.alloc(SEARCH_BYTES);
    for await (const { at, bytes } of this.#blocks(this.#offset, SEARCH_BYTES)) {
      if (bytes.equals(zeros.subarray(0, bytes.length))) continue;
      this.#offset = at + bytes.findIndex((byte) => byte !== 0);
      if (typeof readHeader(this.#window, this.#offset) === 'number') return true;
      this.#problem('trailing_garbage', `no gzip data at byte ${this.#offset}`);
      this.sink.gap();
      return this.#findNext(this.#offset + 1);
    }
    return false;
  }

  /** Moves to the next member that begins between the two offsets, if there is one. */
  async #findNext(from: number, until = this.file.size): Promise<boolean> {
    for await (const { at, bytes } of this.#blocks(from, SEARCH_BYTES - HEADER_BYTES + 1)) {
      if (at >= until) return false;
      const member = findMember(bytes, 0);
      if (member === -1) continue;
      if (at + member >= until) return false;
      this.#offset = at + member;
      return true;
    }
    return false;
  }

  /** The file from `from` on in blocks of SEARCH_BYTES, `step` apart, until it ends or the sink stops. */
  async *#blocks(from: number, step: number): AsyncGenerator<{ at: number; bytes: Buffer }> {
    const room = Buffer.allocUnsafe(SEARCH_BYTES);
    for (let at = from; at < this.file.size && !this.sink.isStopped(); at += step) {
      const bytes = this.file.readAt(at, room);
      if (bytes.length === 0) return;
      yield { at, bytes };
      await nextTurn();
    }
  }

  #problem(code: NoticeCode, detail: string): void {
    if (!this.problems.has(code)) this.problems.set(code, detail);
  }
}

function nextSlice(slice: number, output: number): number {
  const fitting = Math.floor((WANTED_OUTPUT_BYTES * slice) / Math.max(1, output));
  return Math.max(MIN_SLICE_BYTES, Math.min(MAX_SLICE_BYTES, fitting));
}
