// Inflates one gzip member's deflate data with node:zlib, to the last readable byte. Used by inflate.ts for all
// members that fast-inflate.ts cannot inflate or verify.
//
// node:zlib drops the output of a write that fails. So a failing member is inflated again up to the failing block, and
// that block is fed byte by byte. Distances that reach before the start of the member (a flipped bit) are not an error
// here but yield NUL bytes, as in gzip: the data after them is still readable.
import { createInflateRaw, type InflateRaw } from 'node:zlib';
import type { FileBytes } from '../file-bytes.ts';

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

/** @param emit gets the data, valid only during the call; returns false to stop. */
export async function inflateMember(
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
