// Process signals, and running until one arrives; only for main and the composition roots.
import { once } from 'node:events';
import { Teardown } from './platform/service.ts';

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

/** SIGHUP as bin/cardpoll.js hears it from its first line on, before anything is loaded. It makes this object. */
export interface Hangups {
  /** A SIGHUP waits to be served. */
  came: boolean;
  /** Called for each one. */
  serve: () => void;
}

/** Serves every SIGHUP from here on, and at once if any came before. @returns the function that ends this: then SIGHUP does nothing. */
export function serveHangups(hangups: Hangups, handler: () => void): () => void {
  hangups.serve = handler;
  if (hangups.came) handler();
  hangups.came = false;
  return () => {
    hangups.serve = () => {};
  };
}

/** For a command that does not serve SIGHUP: it ends the process, as if nothing had listened. */
export function endByHangups({ came }: Hangups): void {
  process.removeAllListeners('SIGHUP');
  if (came) process.kill(process.pid, 'SIGHUP');
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
