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

/** SIGHUPs received by bin/cardpoll.js from its first line on, before anything is loaded. It creates this object. */
export interface Hangups {
  /** A SIGHUP waits to be handled. */
  came: boolean;
  /** Called for each SIGHUP. */
  serve: () => void;
}

/**
 * Handles every SIGHUP from now on, and at once if any came before. @returns a function that ends this: then SIGHUP has no
 * effect.
 */
export function serveHangups(hangups: Hangups, handler: () => void): () => void {
  hangups.serve = handler;
  if (hangups.came) handler();
  hangups.came = false;
  return () => {
    hangups.serve = () => {};
  };
}

/** For a command that does not handle SIGHUP: the signal ends the process, as if there were no listener. */
export function endByHangups({ came }: Hangups): void {
  process.removeAllListeners('SIGHUP');
  if (came) process.kill(process.pid, 'SIGHUP');
}

interface Ends {
  /** Ends the run normally. */
  readonly stop?: AbortSignal;
  /** Ends the run with its reason as the error. */
  readonly refused?: AbortSignal;
}

/**
 * Starts something, waits for a signal to end, and shuts it down. A second signal ends the process at once.
 * @param ends further triggers of the end.
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
