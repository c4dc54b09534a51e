// Hands out the data of a gzip file, however many members it has and however damaged it is, and says what is wrong with
// it. Used by scan-file.ts. Everything that can be inflated is handed out; behind damage the next member is looked for.
import type { FileBytes } from '../file-bytes.ts';
import type { NoticeCode } from '../notice.ts';
import { inflateMember } from './careful-inflate.ts';
import { crc32 } from './checksum.ts';
import { type InflateChoice, inflateFast } from './fast-inflate.ts';
import { findMember, GZIP_TRAILER_BYTES, HEADER_BYTES, readHeader, trailerOf } from './gzip-format.ts';
import type { InflateSink } from './inflate-sink.ts';

export interface InflateProblem {
  readonly code: NoticeCode;
  readonly detail: string;
}

export type InflateResult =
  | { readonly kind: 'done'; readonly problems: readonly InflateProblem[] }
  /** The fast way went wrong: forget what was handed out and call again without it. */
  | { readonly kind: 'redo' };

/** @param choice `node` never asks for a `redo`. */
export async function inflateFile(
  file: FileBytes,
  sink: InflateSink,
  choice: InflateChoice,
): Promise<InflateResult> {
  const fast = await inflateFast(file, sink, choice);
  if (fast.kind === 'redo') return { kind: 'redo' };
  if (fast.kind === 'stopped') return { kind: 'done', problems: [] };
  const walk = new MemberWalk(file, sink, fast.offset);
  await walk.run();
  return { kind: 'done', problems: [...walk.problems].map(([code, detail]) => ({ code, detail })) };
}

const SEARCH_BYTES = 1_048_576;

/** Goes from member to member from an offset on. */
class MemberWalk {
  /** The first of each kind. */
  readonly problems = new Map<NoticeCode, string>();

  constructor(
    private readonly file: FileBytes,
    private readonly sink: InflateSink,
    private offset: number,
  ) {}

  async run(): Promise<void> {
    while (this.offset < this.file.size) {
      const header = readHeader(this.file, this.offset);
      if (this.file.shrunk) return;
      if (header.kind === 'header') {
        if (!(await this.#member(this.offset + header.length))) return;
      } else if (header.kind === 'cut') {
        return this.#problem('truncated', `ends within a gzip header at byte ${this.offset}`);
      } else if (!this.#skipForeign()) {
        return;
      }
    }
  }

  /**
   * A member that was torn off is inflated into the one behind it, so the next is looked for from its own beginning.
   * @returns false when there is nothing more to do.
   */
  async #member(start: number): Promise<boolean> {
    let [crc, length] = [0, 0];
    const end = await inflateMember(this.file, start, (data) => {
      crc = crc32(data, crc);
      length += data.length;
      return this.sink.data(data);
    });
    if (end.kind === 'stopped') return false;
    if (end.kind === 'cut') {
      this.#problem('truncated', 'gzip data ends too early or is still being written');
      this.sink.gap();
      return this.#findNext(this.offset + 1);
    }
    if (end.kind === 'corrupt') {
      this.#problem('corrupt', `${end.reason} at byte ${end.offset}`);
      this.sink.gap();
      return this.#findNext(this.offset + 1);
    }
    return this.#checkTrailer(end.offset, trailerOf(crc, length));
  }

  #checkTrailer(at: number, expected: Buffer): boolean {
    const trailer = this.file.readAt(at, Buffer.alloc(GZIP_TRAILER_BYTES));
    this.offset = at + GZIP_TRAILER_BYTES;
    if (trailer.length < GZIP_TRAILER_BYTES) {
      this.#problem('truncated', 'gzip data ends before its checksum');
      return false;
    }
    if (!trailer.equals(expected)) {
      this.#problem('crc_mismatch', `checksum or length at byte ${at} does not fit the data`);
    }
    return true;
  }

  /** Zero padding is common and means nothing; anything else is worth a notice. */
  #skipForeign(): boolean {
    const start = this.offset;
    const room = Buffer.allocUnsafe(SEARCH_BYTES);
    for (let at = start; at < this.file.size; at += SEARCH_BYTES) {
      const bytes = this.file.readAt(at, room);
      const index = bytes.findIndex((byte) => byte !== 0);
      if (index === -1 && bytes.length > 0) continue;
      if (bytes.length === 0) return false;
      this.offset = at + index;
      if (readHeader(this.file, this.offset).kind === 'header') return true;
      this.#problem('trailing_garbage', `no gzip data at byte ${this.offset}`);
      this.sink.gap();
      return this.#findNext(this.offset + 1);
    }
    return false;
  }

  #findNext(from: number): boolean {
    const room = Buffer.allocUnsafe(SEARCH_BYTES);
    for (let at = from; at < this.file.size; at += SEARCH_BYTES - HEADER_BYTES + 1) {
      const bytes = this.file.readAt(at, room);
      const index = findMember(bytes, 0);
      if (index !== -1) {
        this.offset = at + index;
        return true;
      }
      if (bytes.length < room.length) break;
    }
    return false;
  }

  #problem(code: NoticeCode, detail: string): void {
    if (!this.problems.has(code)) this.problems.set(code, detail);
  }
}
