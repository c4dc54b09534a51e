// Process signals, for main and the composition root alone.

/** Installs a handler. @returns the function that removes it. */
export function onSignal(signal: NodeJS.Signals, handler: () => void): () => void {
  process.on(signal, handler);
  return () => process.off(signal, handler);
}

/**
 * Resolves with the first SIGTERM or SIGINT. From then on these signals have their default effect again: a second
 * one ends the process at once.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      for (const remove of removers) remove();
      resolve(signal);
    };
    const removers = (['SIGTERM', 'SIGINT'] as const).map((signal) => onSignal(signal, () => stop(signal)));
  });
}

/** What SIGHUP does. Where nothing is done about it any more, or not yet, it does no harm. */
export class Hangups {
  #handler: (() => void) | null = null;
  #came = false;

  /** Made as early as can be and never taken back: without a listener the signal ends the process. */
  constructor() {
    onSignal('SIGHUP', () => this.come());
  }

  /** As if the signal had come. */
  come(): void {
    if (this.#handler === null) this.#came = true;
    else this.#handler();
  }

  /** From now on calls this; at once, if one came while nobody was there. @returns the function that ends it. */
  handle(handler: () => void): () => void {
    this.#handler = handler;
    if (this.#came) handler();
    this.#came = false;
    return () => {
      this.#handler = null;
    };
  }
}
