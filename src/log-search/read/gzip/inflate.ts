// Inflates a gzip file with any number of members and any damage, and reports its problems. Used by scan-file.ts. All data
// that can be inflated is passed on; after damage it looks for the next member.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileProblem, NoticeCode } from '../../model/log-file.ts';
import type { InflateChoice } from '../../model/query.ts';
import { type FileBytes, FileWindow } from '../file-bytes.ts';
import { inflateMember } from './careful-inflate.ts';
import { type InflateSink, inflateFast } from './fast-inflate.ts';
import { crc32, findMember, HEADER_BYTES, readHeader, trailerOf } from './gzip-format.ts';

type InflateResult =
  | { readonly kind: 'done'; readonly problems: readonly FileProblem[] }
  /** The fast way failed: drop the data so far and call again without it. */
  | { readonly kind: 'redo' };

/** @param choice `node` never results in a `redo`. */
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
    while (this.offset < this.file.size) {
      const header = readHeader(this.#window, this.offset);
      if (this.file.shrunk) return;
      if (header.kind === 'header') {
        if (!(await this.#member(this.offset + header.length))) return;
      } else if (header.kind === 'cut') {
        return this.#problem('truncated', `ends within a gzip header at byte ${this.offset}`);
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
    const trailer = this.#window.all(at, expected.length);
    this.offset = at + expected.length;
    if (trailer.length < expected.length) {
      this.#problem('truncated', 'gzip data ends before its checksum');
      return false;
    }
    if (!trailer.equals(expected)) {
      this.#problem('crc_mismatch', `checksum or length at byte ${at} does not fit the data`);
      // Cut off before its trailer: the next member follows directly.
      if (readHeader(this.#window, at).kind === 'header') this.offset = at;
    }
    return true;
  }

  /** Skips data that is not gzip. Zero padding is common and harmless; anything else gets a notice. */
  async #skipForeign(): Promise<boolean> {
    const zeros = Buffer.alloc(SEARCH_BYTES);
    for await (const { at, bytes } of this.#blocks(this.offset, SEARCH_BYTES)) {
      if (bytes.equals(zeros.subarray(0, bytes.length))) continue;
      this.offset = at + bytes.findIndex((byte) => byte !== 0);
      if (readHeader(this.#window, this.offset).kind === 'header') return true;
      this.#problem('trailing_garbage', `no gzip data at byte ${this.offset}`);
      this.sink.gap();
      return this.#findNext(this.offset + 1);
    }
    return false;
  }

  async #findNext(from: number): Promise<boolean> {
    for await (const { at, bytes } of this.#blocks(from, SEARCH_BYTES - HEADER_BYTES + 1)) {
      const member = findMember(bytes, 0);
      if (member === -1) continue;
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
