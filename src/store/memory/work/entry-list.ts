// The entries of a manual list: a list with cheap operations at both ends. Used by work-state.ts.

export class EntryList {
  #items: string[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  append(entry: string): void {
    this.#items.push(entry);
  }

  /** Puts the entries in front; the first entry becomes the head. */
  prepend(entries: readonly string[]): void {
    if (entries.length === 0) return;
    this.#items = [...entries, ...this.#items.slice(this.#head)];
    this.#head = 0;
  }

  /** Removes the entries that match. @returns their number. */
  remove(matches: (entry: string) => boolean): number {
    const before = this.length;
    this.#items = this.#items.slice(this.#head).filter((entry) => !matches(entry));
    this.#head = 0;
    return before - this.#items.length;
  }

  /** @returns the entries from the head to the tail. */
  entries(): readonly string[] {
    return this.#items.slice(this.#head);
  }

  take(count: number): string[] {
    const taken = this.#items.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    // Drop taken entries once they are the greater part, so that each entry is copied once on average.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
