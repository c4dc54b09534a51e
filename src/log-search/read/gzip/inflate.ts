// Inflates a gzip file with any number of members and any damage, and reports its problems. Used by scan-file.ts. All data
// that can be inflated is passed on; after damage it looks for the next member. Members that fast-inflate.ts cannot inflate
// or verify are inflated with node:zlib, to the last readable byte.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createInflateRaw, type InflateRaw } from 'node:zlib';
import type { FileProblem, InflateChoice, NoticeCode } from '../../model.ts';
import { type FileBytes, FileWindow } from '../file-bytes.ts';
import { type InflateSink, inflateFast } from './fast-inflate.ts';
import { crc32, findMember, HEADER_BYTES, readHeader, trailerOf } from './gzip-format.ts';

/**
 * @returns the problems of the file; null when the fast way failed: drop the data so far and call again with the choice
 * `node`, which never fails.
 */
export async function inflateFile(
  file: FileBytes,
  sink: InflateSink,
  choice: InflateChoice,
): Promise<readonly FileProblem[] | null> {
  const reached = await inflateFast(file, sink, choice);
  if (reached === 'redo') return null;
  if (reached === 'stopped') return [];
  const walk = new MemberWalk(file, sink, reached);
  await walk.run();
  return [...walk.problems].map(([code, detail]) => ({ code, detail }));
}

const SEARCH_BYTES = 1_048_576;

/** Goes from member to member from an offset on. */
class MemberWalk {
  readonly #window: FileWindow;
  /** The first problem of each code. */
  readonly problems = new Map<NoticeCode, string>();

  constructor(
    private readonly file: FileBytes,
    private readonly sink: InflateSink,
    private offset: number,
  ) {
    this.#window = new FileWindow(file);
  }

  async run(): Promise<void> {
    if (this.file.size === 0) return this.#problem('truncated', 'empty, which no gzip file is');
    while (this.offset < this.file.size) {
      const header = readHeader(this.#window, this.offset);
      if (this.file.shrunk) return;
      if (typeof header === 'number') {
        if (!(await this.#member(this.offset + header))) return;
      } else if (header === 'cut') {
        return this.#problem('truncated', `ends within a gzip header at byte ${this.offset}`);
      } else if (this.offset === 0) {
        this.#problem('corrupt', 'it does not begin as gzip does');
        if (!(await this.#findNext(1))) return;
      } else if (!(await this.#skipForeign())) {
        return;
      }
    }
  }

  /**
   * Inflates a member. One that was cut off is inflated into the member after it, so the next member is searched from its
   * own beginning.
   * @returns false at the end.
   */
  async #member(start: number): Promise<boolean> {
    let [crc, length] = [0, 0];
    const end = await inflateMember(this.file, start, (data) => {
      crc = crc32(data, crc);
      length += data.length;
      return this.sink.data(data);
    });
    if (end.kind === 'stopped') return false;
    if (end.kind === 'ended') return this.#checkTrailer(start, end.offset, trailerOf(crc, length));
    if (end.kind === 'cut') this.#problem('truncated', 'gzip data ends too early or is still being written');
    else this.#problem('corrupt', `${end.reason} at byte ${end.offset}`);
    this.sink.gap();
    return this.#findNext(this.offset + 1);
  }

  /** Checks the trailer at `at` of the data from `start` on. */
  async #checkTrailer(start: number, at: number, expected: Buffer): Promise<boolean> {
    const trailer = this.#window.all(at, expected.length);
    this.offset = at + expected.length;
    if (trailer.length < expected.length) {
      this.#problem('truncated', 'gzip data ends before its checksum');
      return false;
    }
    if (!trailer.equals(expected)) {
      this.#problem('crc_mismatch', `checksum or length at byte ${at} does not fit the data`);
      // Cut off, and by chance it ended within the member after it, or its trailer would be that member's beginning.
      if (await this.#findNext(start, this.offset)) this.sink.gap();
    }
    return true;
  }

  /** Skips data that is not gzip. Zero padding is common and harmless; anything else gets a notice. */
  async #skipForeign(): Promise<boolean> {
    const zeros = Buffer.alloc(SEARCH_BYTES);
    for await (const { at, bytes } of this.#blocks(this.offset, SEARCH_BYTES)) {
      if (bytes.equals(zeros.subarray(0, bytes.length))) continue;
      this.offset = at + bytes.findIndex((byte) => byte !== 0);
      if (typeof readHeader(this.#window, this.offset) === 'number') return true;
      this.#problem('trailing_garbage', `no gzip data at byte ${this.offset}`);
      this.sink.gap();
      return this.#findNext(this.offset + 1);
    }
    return false;
  }

  /** Goes to the next member that begins between the two offsets, if there is one. */
  async #findNext(from: number, until = this.file.size): Promise<boolean> {
    for await (const { at, bytes } of this.#blocks(from, SEARCH_BYTES - HEADER_BYTES + 1)) {
      if (at >= until) return false;
      const member = findMember(bytes, 0);
      if (member === -1) continue;
      if (at + member >= until) return false;
      this.offset = at + member;
      return true;
    }
    return false;
  }

  /** The file from `from` on in blocks of SEARCH_BYTES, `step` apart, until it ends or the sink wants no more. */
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

const BLOCK_BYTES = 32_768;
const OUTPUT_BYTES = 524_288;
const BEFORE_THE_START = Buffer.alloc(32_768);

type MemberEnd =
  /** `offset`: the first byte after the deflate data. */
  | { readonly kind: 'ended'; readonly offset: number }
  /** The file ended first. */
  | { readonly kind: 'cut' }
  /** No deflate data from about `offset` on. */
  | { readonly kind: 'corrupt'; readonly offset: number; readonly reason: string }
  | { readonly kind: 'stopped' };

/**
 * Inflates the deflate data of one member. node:zlib drops the output of a write that fails. So a failing member is inflated
 * again up to the failing block, and that block is fed byte by byte. Distances that reach before the start of the member (a
 * flipped bit) are not an error here but yield NUL bytes, as in gzip: the data after them is still readable.
 * @param emit gets the data, valid only during the call; returns false to stop.
 */
async function inflateMember(
  file: FileBytes,
  start: number,
  emit: (data: Buffer) => boolean,
): Promise<MemberEnd> {
  let emitted = 0;
  const counted = (data: Buffer) => {
    emitted += data.length;
    return emit(data);
  };
  const end = await inflateBlocks(file, start, counted, Number.POSITIVE_INFINITY);
  if (end.kind !== 'corrupt') return end;
  let toSkip = emitted;
  const unseen = (data: Buffer) => {
    const fresh = data.subarray(Math.min(toSkip, data.length));
    toSkip -= data.length - fresh.length;
    return fresh.length === 0 || emit(fresh);
  };
  return inflateBlocks(file, start, unseen, end.offset);
}

/** Feeds blocks, and single bytes from the block that reaches `carefulFrom` on. */
async function inflateBlocks(
  file: FileBytes,
  start: number,
  emit: (data: Buffer) => boolean,
  carefulFrom: number,
): Promise<MemberEnd> {
  const inflater = new BlockInflater(emit);
  try {
    for (let offset = start; ; ) {
      const bytes = offset >= carefulFrom ? 1 : BLOCK_BYTES;
      // Each block needs a new buffer: zlib may still use the previous one.
      const block = file.readAt(offset, Buffer.allocUnsafe(bytes));
      if (block.length === 0) return { kind: 'cut' };
      const state = await inflater.push(block);
      if (state === 'stopped') return { kind: 'stopped' };
      if (state === 'ended') return { kind: 'ended', offset: start + inflater.consumed };
      if (state === 'failed') return { kind: 'corrupt', offset, reason: inflater.reason };
      offset += block.length;
    }
  } finally {
    inflater.close();
  }
}

/** One deflate stream, a block at a time. */
class BlockInflater {
  reason = '';
  readonly #stream: InflateRaw;
  #state: 'open' | 'ended' | 'failed' | 'stopped' = 'open';
  #settle: () => void = () => {};
  #thrown: { readonly error: unknown } | null = null;

  constructor(emit: (data: Buffer) => boolean) {
    this.#stream = createInflateRaw({ chunkSize: OUTPUT_BYTES, dictionary: BEFORE_THE_START });
    this.#stream.on('data', (data: Buffer) => {
      try {
        if (this.#state !== 'stopped' && !emit(data)) this.#become('stopped');
      } catch (error) {
        // An error thrown in this callback would be lost.
        this.#thrown = { error };
        this.#become('stopped');
      }
    });
    this.#stream.on('end', () => this.#become('ended'));
    this.#stream.on('error', (error) => {
      this.reason = error.message;
      this.#become('failed');
    });
  }

  /** Number of bytes that belonged to the stream. */
  get consumed(): number {
    return this.#stream.bytesWritten;
  }

  /** Resolves when all the block's data has been emitted. */
  async push(block: Buffer): Promise<'open' | 'ended' | 'failed' | 'stopped'> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      this.#stream.write(block, () => resolve());
    });
    if (this.#thrown !== null) throw this.#thrown.error;
    return this.#state;
  }

  close(): void {
    this.#stream.destroy();
  }

  #become(state: 'ended' | 'failed' | 'stopped'): void {
    if (this.#state === 'open') this.#state = state;
    this.#settle();
  }
}
