// Looks up one name at a time, and a name once for all waiting callers. The system's look-up blocks one of Node's two threads for
// it, for ten seconds and more if no name server answers. So webhooks never block both, and connections to the gateway and the
// stores remain possible.
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
