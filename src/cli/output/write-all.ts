// Writes more than a pipe holds without holding it all: waits for the reader. Used by commands with endless output.
import { once } from 'node:events';
import type { Io } from '../io.ts';

/** Ends quietly, through io's signal, when the reader is gone. */
export async function writeAll(
  { stdout, onInterrupt }: Io,
  pieces: Iterable<string | Buffer>,
): Promise<void> {
  const signal = onInterrupt();
  for (const piece of pieces) {
    signal.throwIfAborted();
    if (!stdout.write(piece)) await Promise.race([once(stdout, 'drain', { signal }), aborted(signal)]);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
