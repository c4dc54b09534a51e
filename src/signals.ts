// Process signals, and running until one arrives; only for main and the composition roots.
import { once } from 'node:events';
import { Teardown } from './platform/service.ts';

/** Installs a handler. @returns the function that removes it. */
function onSignal(signal: NodeJS.Signals, handler: () => void): () => void {
  process.on(signal, handler);
  return () => process.off(signal, handler);
}

/**
 * Resolves with the first SIGTERM or SIGINT. From then on these signals have their default effect again: a second
 * one ends the process at once.
 */
async function untilStopped(): Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  await Promise.race(['SIGTERM', 'SIGINT'].map((name) => once(process, name, { signal })));
  stopped.abort();
}

/** Handles SIGHUP. While no handler is set, the signal does nothing. */
export class Hangups {
  #handler: (() => void) | null = null;
  #came = false;

  /** Create it as early as possible; it is never removed, because without a listener the signal ends the process. */
  constructor() {
    onSignal('SIGHUP', () => {
      if (this.#handler === null) this.#came = true;
      else this.#handler();
    });
  }

  /** Sets the handler; calls it at once if a signal arrived before. @returns the function that removes it. */
  handle(handler: () => void): () => void {
    this.#handler = handler;
    if (this.#came) handler();
    this.#came = false;
    return () => {
      this.#handler = null;
    };
  }
}

interface Ends {
  /** Ends it well. */
  readonly stop?: AbortSignal;
  /** Ends it with its reason as the error. */
  readonly refused?: AbortSignal;
}

/**
 * Starts something, waits for the signal to end, and shuts it down. A second signal ends the process at once.
 * @param ends besides signals.
 */
export async function run(
  start: (teardown: Teardown) => Promise<void>,
  { stop, refused }: Ends = {},
): Promise<number> {
  const ends = [stop, refused].filter((signal) => signal !== undefined).map(untilAborted);
  const ended = Promise.race([untilStopped(), ...ends]);
  const teardown = new Teardown();
  // SIGUSR1 would open Node's inspector on a port of its own.
  teardown.add(onSignal('SIGUSR1', () => {}));
  try {
    await start(teardown);
    await ended;
  } finally {
    await teardown.run();
  }
  refused?.throwIfAborted();
  return 0;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
