// The lifecycle of all long-lived parts: started in order, stopped in the reverse order.

export interface Service {
  readonly name: string;
  /** A second start while it runs does nothing. */
  start(): Promise<void>;
  /** Shuts down gracefully; resolves when no work of the service runs. Safe to call twice, and before the start. */
  stop(): Promise<void>;
}

/** A stack of cleanup functions. `run` calls all of them, last first, even if some fail, then throws the first error. */
export class Teardown {
  readonly #steps: Array<() => Promise<void> | void> = [];

  add(step: () => Promise<void> | void): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    let first: { error: unknown } | null = null;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        first ??= { error };
      }
    }
    if (first !== null) throw first.error;
  }
}
