// What stands in the manual list of one task type: a list that takes and gives at both ends cheaply. Used by work-state.ts.

export class EntryList {
  #items: string[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  append(entry: string): void {
    this.#items.push(entry);
  }

  /** Puts the entries before the head; the first of them becomes the head. */
  prepend(entries: readonly string[]): void {
    if (entries.length === 0) return;
    this.#items = [...entries, ...this.#items.slice(this.#head)];
    this.#head = 0;
  }

  /** Takes out the entries that `matches` says yes to. @returns how many. */
  remove(matches: (entry: string) => boolean): number {
    const before = this.length;
    this.#items = this.#items.slice(this.#head).filter((entry) => !matches(entry));
    this.#head = 0;
    return before - this.#items.length;
  }

  /** From the head to the tail. */
  entries(): readonly string[] {
    return this.#items.slice(this.#head);
  }

  take(count: number): string[] {
    const taken = this.#items.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    // Forget what was taken once it is the greater part: each entry is copied once on average.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
