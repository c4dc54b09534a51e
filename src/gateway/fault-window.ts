// Counts calls, and those among them that were faults, over the last ten seconds. Used by breakers and by what notices
// back-pressure; decides nothing.

export const WINDOW_SECONDS = 10;

/** Calls and faults of the last ten seconds, by second. */
export class FaultWindow {
  readonly #calls = new Array<number>(WINDOW_SECONDS).fill(0);
  readonly #faults = new Array<number>(WINDOW_SECONDS).fill(0);
  #second = 0;
  /** Faults since the last call that was none. */
  #inARow = 0;

  add(nowMs: number, fault: boolean): void {
    const second = this.#forget(nowMs);
    const slot = second % WINDOW_SECONDS;
    this.#calls[slot] = (this.#calls[slot] ?? 0) + 1;
    if (fault) this.#faults[slot] = (this.#faults[slot] ?? 0) + 1;
    this.#inARow = fault ? this.#inARow + 1 : 0;
  }

  totals(nowMs: number): { readonly calls: number; readonly faults: number; readonly inARow: number } {
    this.#forget(nowMs);
    const sum = (a: number, b: number) => a + b;
    return { calls: this.#calls.reduce(sum), faults: this.#faults.reduce(sum), inARow: this.#inARow };
  }

  #forget(nowMs: number): number {
    const second = Math.floor(nowMs / 1_000);
    const gone = Math.min(WINDOW_SECONDS, second - this.#second);
    for (let age = 0; age < gone; age += 1) {
      const slot = (second - age) % WINDOW_SECONDS;
      this.#calls[slot] = 0;
      this.#faults[slot] = 0;
    }
    if (gone > 0) this.#second = second;
    return second;
  }
}
