// The queue of one task type in the embedded live store: cards by due time or lease token. Due cards and waiting cards
// are kept apart, so that both are counted without a scan.
import { ScoreSet } from './score-set.ts';

export class DueQueue {
  readonly #ready = new ScoreSet<number>();
  readonly #waiting = new ScoreSet<number>();

  get size(): number {
    return this.#ready.size + this.#waiting.size;
  }

  scoreOf(cardId: number): number | undefined {
    return this.#ready.scoreOf(cardId) ?? this.#waiting.scoreOf(cardId);
  }

  /** @returns the number of cards with a lower score. Looks at every card: an embedded fleet is small. */
  countBefore(score: number): number {
    let before = 0;
    for (const set of [this.#ready, this.#waiting]) {
      for (const entry of set.entries()) if (entry.score < score) before += 1;
    }
    return before;
  }

  /** Adds the card unless it is already queued. @returns whether it was new. */
  addNew(cardId: number, dueMs: number): boolean {
    if (this.scoreOf(cardId) !== undefined) return false;
    this.#waiting.set(cardId, dueMs);
    return true;
  }

  /** Changes the score of a queued card. */
  move(cardId: number, score: number): void {
    this.#ready.delete(cardId);
    this.#waiting.set(cardId, score);
  }

  delete(cardId: number): void {
    if (!this.#ready.delete(cardId)) this.#waiting.delete(cardId);
  }

  dueCount(nowMs: number): number {
    this.#ripen(nowMs);
    return this.#ready.size;
  }

  /**
   * Gives the score `token` to the `count` cards that have been due longest. @returns these cards and their due times.
   */
  lease(nowMs: number, count: number, token: number): Array<{ cardId: number; dueMs: number }> {
    this.#ripen(nowMs);
    const taken: Array<{ cardId: number; dueMs: number }> = [];
    while (taken.length < count) {
      const lowest = this.#ready.lowest();
      if (lowest === undefined) break;
      const { member: cardId, score: dueMs } = lowest;
      this.move(cardId, token);
      taken.push({ cardId, dueMs });
    }
    return taken;
  }

  /** Removes and returns the `count` cards that have been due longest. */
  take(nowMs: number, count: number): number[] {
    this.#ripen(nowMs);
    const taken: number[] = [];
    while (taken.length < count) {
      const card = this.#ready.lowest()?.member;
      if (card === undefined) break;
      this.#ready.delete(card);
      taken.push(card);
    }
    return taken;
  }

  /**
   * Moves waiting cards (whole milliseconds; a token has a fraction) `backMs` earlier, and to `latestMs` at the latest.
   */
  setBack(backMs: number, latestMs = Number.POSITIVE_INFINITY): void {
    const waiting = [...this.#waiting.entries()].filter(({ score }) => Number.isInteger(score));
    for (const { member, score } of waiting) this.#waiting.set(member, Math.min(latestMs, score - backMs));
  }

  /** Makes cards due whose lease ends after `afterMs`. */
  takeBackFrom(afterMs: number, nowMs: number): void {
    const leased = [...this.#waiting.entries()].filter(({ score }) => score > afterMs);
    for (const { member } of leased) this.#waiting.set(member, nowMs);
  }

  #ripen(nowMs: number): void {
    for (const { member, score } of this.#waiting.takeUpTo(nowMs)) this.#ready.set(member, score);
  }
}
