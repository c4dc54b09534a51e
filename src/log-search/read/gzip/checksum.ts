// The CRC-32 of gzip's trailers, by a faster package than node:zlib where it is installed
// (docs/decisions/0025-inflate-believed-by-trailer.md).
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';

type Crc32 = (data: Buffer, previous: number) => number;

let loaded: Crc32 | undefined;

/** Continues `previous` (0 at the start) with `data`. */
export function crc32(data: Buffer, previous: number): number {
  loaded ??= load();
  return loaded(data, previous);
}

function load(): Crc32 {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as { crc32: Crc32 }).crc32;
  } catch {
    return zlib.crc32;
  }
}
