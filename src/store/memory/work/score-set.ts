// Members sorted by score, like a sorted set of Redis: the queue, the retry lane, slots and manual leases of the embedded live
// store. Members with equal scores keep the order in which they got them. An array is enough, because an embedded fleet is small
// and most changes are at the ends.

interface Entry<K> {
  readonly member: K;
  readonly score: number;
  /** Number of entries created before this one. */
  readonly turn: number;
}

export class ScoreSet<K> {
  readonly #entries = new Map<K, Entry<K>>();
  readonly #inOrder: Entry<K>[] = [];
  #turns = 0;

  get size(): number {
    return this.#inOrder.length;
  }

  scoreOf(member: K): number | undefined {
    return this.#entries.get(member)?.score;
  }

  /** Adds the member or changes its score. */
  set(member: K, score: number): void {
    this.delete(member);
    this.#turns += 1;
    const entry = { member, score, turn: this.#turns };
    this.#entries.set(member, entry);
    this.#inOrder.splice(this.#placeOf(entry), 0, entry);
  }

  /** Adds the member unless it is there already. @returns whether it was new. */
  addNew(member: K, score: number): boolean {
    if (this.#entries.has(member)) return false;
    this.set(member, score);
    return true;
  }

  delete(member: K): boolean {
    const entry = this.#entries.get(member);
    if (entry === undefined) return false;
    this.#entries.delete(member);
    this.#inOrder.splice(this.#placeOf(entry), 1);
    return true;
  }

  countBelow(score: number): number {
    return this.#placeOf({ score, turn: 0 });
  }

  countUpTo(score: number): number {
    return this.#placeOf({ score, turn: Number.POSITIVE_INFINITY });
  }

  lowest(): { readonly member: K; readonly score: number } | undefined {
    return this.#inOrder[0];
  }

  members(): readonly K[] {
    return this.#inOrder.map(({ member }) => member);
  }

  /** Removes and returns the members with a score from `least` up to `limit`, at most `count` of them, lowest first. */
  takeUpTo(
    limit: number,
    count = Number.POSITIVE_INFINITY,
    least = Number.NEGATIVE_INFINITY,
  ): readonly Entry<K>[] {
    const from = this.countBelow(least);
    return this.#take(from, Math.min(count, this.countUpTo(limit) - from));
  }

  /** Removes and returns the members with a higher score, lowest first. */
  takeAbove(score: number): readonly Entry<K>[] {
    return this.#take(this.countUpTo(score), this.size);
  }

  #take(from: number, count: number): readonly Entry<K>[] {
    const taken = this.#inOrder.splice(from, count);
    for (const { member } of taken) this.#entries.delete(member);
    return taken;
  }

  /** @returns the number of entries before this one. */
  #placeOf({ score, turn }: Pick<Entry<K>, 'score' | 'turn'>): number {
    let low = 0;
    let high = this.#inOrder.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.#inOrder[middle] as Entry<K>;
      if (entry.score < score || (entry.score === score && entry.turn < turn)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
