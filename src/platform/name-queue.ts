// Looks names up one at a time, and a name once for all who wait for it. The system's look-up takes one of the two threads
// that Node has for it, for ten seconds and more if no name server answers: so the names of webhooks never take both, and
// the gateway and the stores can be connected to meanwhile.
import type { LookupAddress, LookupAllOptions } from 'node:dns';

type Answered = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
export type Resolve = (hostname: string, options: LookupAllOptions, callback: Answered) => void;

const SLOW_MS = 2_000;

export class NameQueue {
  readonly #waiting = new Map<
    string,
    { readonly options: LookupAllOptions; readonly answered: Answered[] }
  >();
  /** Names whose last look-up was slow: the others come first. */
  readonly #slow = new Set<string>();
  #isBusy = false;

  constructor(private readonly resolve: Resolve) {}

  readonly lookup: Resolve = (name, options, callback) => {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#waiting.set(name, { options, answered: [callback] });
    else waiting.answered.push(callback);
    this.#next();
  };

  #next(): void {
    const names = [...this.#waiting.keys()];
    const name = names.find((one) => !this.#slow.has(one)) ?? names[0];
    const waiting = name === undefined ? undefined : this.#waiting.get(name);
    if (this.#isBusy || name === undefined || waiting === undefined) return;
    this.#isBusy = true;
    const startedMs = performance.now();
    this.resolve(name, waiting.options, (error, addresses) => {
      this.#isBusy = false;
      if (performance.now() - startedMs > SLOW_MS) this.#slow.add(name);
      else this.#slow.delete(name);
      this.#waiting.delete(name);
      this.#next();
      for (const answer of waiting.answered) answer(error, addresses);
    });
  }
}
