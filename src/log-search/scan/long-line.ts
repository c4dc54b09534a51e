// A line too long to hold in memory (a zip bomb, a file without newlines): its beginning is kept, the rest is
// searched piece by piece. Used by line-scanner.ts beyond MAX_LINE_BYTES. The time of such a line comes from its beginning.
import type { LineMatcher } from '../match/card-matcher.ts';

/** Longer lines are kept up to this length. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Pieces overlap, so that each path, field or phrase is whole in one of them. */
const OVERLAP_BYTES = 4_096;

export class LongLine {
  /** The first MAX_LINE_BYTES, or slightly more. */
  readonly head: Buffer;
  #tail: Buffer;
  #matched: boolean;

  /** @param onPiece called with every piece after the head, as latin1; pieces overlap. */
  constructor(
    head: Buffer,
    private readonly matcher: LineMatcher,
    private readonly onPiece: (latin1: string) => void,
  ) {
    this.head = head;
    this.#matched = this.#isHit(head, false, true);
    this.#tail = Buffer.from(head.subarray(-OVERLAP_BYTES));
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const piece = Buffer.concat([this.#tail, chunk]);
    this.#matched ||= this.#isHit(piece, false, false);
    this.onPiece(piece.toString('latin1'));
    this.#tail = Buffer.from(piece.subarray(-OVERLAP_BYTES));
  }

  /** Ends the line. @returns whether it matched. */
  finish(): boolean {
    return this.#matched || this.#isHit(this.#tail, true, false);
  }

  /** A candidate at the end of a piece may continue in the next one, so it counts only in the last; likewise at the start. */
  #isHit(piece: Buffer, isLast: boolean, isFirst: boolean): boolean {
    const { matcher } = this;
    for (let at = matcher.next(piece, 0); at !== -1; at = matcher.next(piece, at + 1)) {
      if (at === 0 && !isFirst) continue;
      if (at + matcher.reach > piece.length && !isLast) return false;
      if (matcher.accepts(piece, at, 0, piece.length)) return true;
    }
    return false;
  }
}
