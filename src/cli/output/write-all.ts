// Writes output of any size without holding all of it in memory: waits for the reader. Used by commands with long output.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Io } from '../command.ts';

const BATCH_BYTES = 65_536;

/** Rejects with the reason of io's interrupt signal. */
export async function writeAll(io: Io, pieces: Iterable<string | Buffer>): Promise<void> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
    batch.push(part);
    bytes += part.length;
    if (bytes < BATCH_BYTES) continue;
    await write(io, Buffer.concat(batch));
    batch = [];
    bytes = 0;
  }
  await write(io, Buffer.concat(batch));
}

/** Writes pieces as they arrive. */
export async function writeAllAsync(io: Io, pieces: AsyncIterable<string | Buffer>): Promise<void> {
  for await (const piece of pieces) await write(io, Buffer.from(piece));
}

async function write({ stdout, onInterrupt }: Io, bytes: Buffer): Promise<void> {
  const signal = onInterrupt();
  signal.throwIfAborted();
  try {
    if (!stdout.write(bytes)) await once(stdout, 'drain', { signal });
    // Files and pipes are written synchronously. Without a turn of the event loop Ctrl-C would wait for the end.
    await nextTurn();
  } finally {
    signal.throwIfAborted();
  }
}
