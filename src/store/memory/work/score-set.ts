// A set whose members have a score: finds and takes the lowest in O(log n). The embedded live store uses it like the
// Redis live store uses sorted sets (queue, slots, manual leases). A binary heap with an index of its members.

interface Entry<K> {
  readonly member: K;
  score: number;
  place: number;
}

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

  /** Removes and returns every member with a score up to `limit`, lowest first. */
  takeUpTo(limit: number): Array<{ readonly member: K; readonly score: number }> {
    const taken: Entry<K>[] = [];
    for (let entry = this.#heap[0]; entry !== undefined && entry.score <= limit; entry = this.#heap[0]) {
      this.delete(entry.member);
      taken.push(entry);
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
