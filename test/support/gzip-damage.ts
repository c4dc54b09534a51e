// Builds log files in every state of health for the log search tests.
import { gzipSync } from 'node:zlib';

export const gzip = (content: string | Buffer): Buffer => gzipSync(content);

/** Each part is a member of its own. */
export function members(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => gzipSync(part)));
}

/** Without its last bytes. */
export function truncated(file: Buffer, bytes: number): Buffer {
  return file.subarray(0, Math.max(0, file.length - bytes));
}

export function withFlippedByte(file: Buffer, at: number, mask = 0xff): Buffer {
  const damaged = Buffer.from(file);
  damaged[at] = (damaged[at] ?? 0) ^ mask;
  return damaged;
}

export function withWrongChecksum(file: Buffer): Buffer {
  return withFlippedByte(file, file.length - 8);
}

/** A generator with a seed, so that a failing case can be run again (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
