// Sets whose members have a score. The embedded live store uses them like the Redis live store uses sorted sets: ScoreSet
// for slots and manual leases, DueQueue for the queue and the retry lane of a task type.

interface Entry<K> {
  readonly member: K;
  score: number;
  place: number;
}

/** Finds and takes the lowest score in O(log n): a binary heap with an index of its members. */
export class ScoreSet<K> {
  readonly #entries = new Map<K, Entry<K>>();
  readonly #heap: Entry<K>[] = [];

  get size(): number {
    return this.#heap.length;
  }

  scoreOf(member: K): number | undefined {
    return this.#entries.get(member)?.score;
  }

  /** Adds the member or changes its score. */
  set(member: K, score: number): void {
    let entry = this.#entries.get(member);
    if (entry === undefined) {
      entry = { member, score, place: this.#heap.length };
      this.#entries.set(member, entry);
      this.#heap.push(entry);
    }
    entry.score = score;
    this.#settle(entry);
  }

  delete(member: K): boolean {
    const entry = this.#entries.get(member);
    if (entry === undefined) return false;
    this.#entries.delete(member);
    const last = this.#heap.pop() as Entry<K>;
    if (last !== entry) {
      this.#put(last, entry.place);
      this.#settle(last);
    }
    return true;
  }

  lowest(): { readonly member: K; readonly score: number } | undefined {
    return this.#heap[0];
  }

  /** Removes and returns every member with a score up to `limit`, at most `count` of them, lowest first. */
  takeUpTo(
    limit: number,
    count = Number.POSITIVE_INFINITY,
  ): Array<{ readonly member: K; readonly score: number }> {
    const taken: Array<{ readonly member: K; readonly score: number }> = [];
    while (taken.length < count) {
      const lowest = this.lowest();
      if (lowest === undefined || lowest.score > limit) break;
      this.delete(lowest.member);
      taken.push(lowest);
    }
    return taken;
  }

  /** @returns all members, in no particular order. */
  entries(): Iterable<{ readonly member: K; readonly score: number }> {
    return this.#entries.values();
  }

  #put(entry: Entry<K>, place: number): void {
    this.#heap[place] = entry;
    entry.place = place;
  }

  /** Moves the entry up or down to the position of its score. */
  #settle(entry: Entry<K>): void {
    let place = entry.place;
    while (place > 0) {
      const parent = this.#heap[(place - 1) >> 1] as Entry<K>;
      if (parent.score <= entry.score) break;
      this.#put(parent, place);
      place = (place - 1) >> 1;
    }
    for (;;) {
      const left = this.#heap[2 * place + 1];
      const right = this.#heap[2 * place + 2];
      const child = right !== undefined && left !== undefined && right.score < left.score ? right : left;
      if (child === undefined || child.score >= entry.score) break;
      const next = child.place;
      this.#put(child, place);
      place = next;
    }
    this.#put(entry, place);
  }
}

/** Cards by due time or lease token. Due cards and waiting cards are kept apart, so that both are counted without a scan. */
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

  /** Gives the score `token` to the `count` cards that have been due longest. @returns them with their due times. */
  lease(nowMs: number, count: number, token: number): ReturnType<DueQueue['take']> {
    const taken = this.take(nowMs, count);
    for (const { member } of taken) this.#waiting.set(member, token);
    return taken;
  }

  /** Removes and returns the `count` cards that have been due longest, with their due times. */
  take(nowMs: number, count: number): Array<{ readonly member: number; readonly score: number }> {
    this.#ripen(nowMs);
    return this.#ready.takeUpTo(Number.POSITIVE_INFINITY, count);
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
