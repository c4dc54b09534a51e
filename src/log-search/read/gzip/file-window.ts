// Reads a file from front to back in blocks, however small the requested pieces: logs with a hundred thousand tiny gzip
// members are read once, not three times per member. Used by inflate.ts and fast-inflate.ts.
import type { FileBytes } from '../file-bytes.ts';
import type { ByteSource } from './gzip-format.ts';

const BLOCK_BYTES = 131_072;

export class FileWindow implements ByteSource {
  readonly #room = Buffer.allocUnsafe(BLOCK_BYTES);
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

  /** What the block holds from `offset` on. */
  #from(offset: number): Buffer {
    const at = offset - this.#start;
    return at < 0 ? this.#block.subarray(0, 0) : this.#block.subarray(at);
  }

  #read(offset: number): void {
    this.#start = offset;
    this.#block = this.file.readAt(offset, this.#room);
  }
}
