// Inflates gzip with zlib-sync, where that is built: synchronous, so a thread does nothing but inflate and search.
// Used by inflate.ts. zlib-sync ends silently behind a member, says nothing of where, gives nothing on any error and
// leaks some 50 KiB an instance. So it inflates raw deflate, a member is believed only when its trailer stands where it
// ended, small members are left to node:zlib, and a thread makes a limited number of instances.
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32, gzipSync } from 'node:zlib';
import type { FileBytes } from './file-bytes.ts';
import { GZIP_TRAILER_BYTES, MAX_HEADER_BYTES, parseHeader, trailerOf } from './gzip-format.ts';
import type { InflateSink } from './inflate-sink.ts';

interface ZlibSync {
  readonly Z_SYNC_FLUSH: number;
  readonly Z_STREAM_END: number;
  readonly Inflate: new (options: {
    chunkSize: number;
    windowBits: number;
  }) => {
    readonly err: number;
    readonly result: Buffer | null;
    push(data: Buffer, flush: number): void;
  };
}

const RAW = -15;
const OUTPUT_BYTES = 262_144;
/** A slice of a zip bomb inflates to a thousand times its size at once. */
const MAX_SLICE_BYTES = 32_768;
const MIN_SLICE_BYTES = 2_048;
const WANTED_OUTPUT_BYTES = 1_048_576;
const WORTHWHILE_BYTES = 131_072;
const MAX_INSTANCES = 300;
/** Other work of the thread, as drawing progress and noticing Ctrl-C, gets its turn so often. */
const SLICES_A_TURN = 64;

let instances = 0;
let loaded: ZlibSync | null | undefined;

/** Null where zlib-sync is not installed, not built, or fails a small task. */
function load(): ZlibSync | null {
  if (loaded !== undefined) return loaded;
  loaded = null;
  try {
    const library = createRequire(import.meta.url)('zlib-sync') as ZlibSync;
    const sample = Buffer.from('a line to try it with\n'.repeat(64));
    const inflate = new library.Inflate({ chunkSize: OUTPUT_BYTES, windowBits: RAW });
    inflate.push(gzipSync(sample).subarray(10), library.Z_SYNC_FLUSH);
    if (inflate.err === library.Z_STREAM_END && inflate.result?.equals(sample)) loaded = library;
  } catch {
    // Optional: without it node:zlib does the same work.
  }
  return loaded;
}

/** `reached`: everything before the offset is verified; `redo`: what was handed out cannot be believed. */
export type FastResult =
  | { readonly kind: 'reached'; readonly offset: number }
  | { readonly kind: 'redo' }
  | { readonly kind: 'stopped' };

/** Hands out the data of the members from the start of the file on, as far as it can. */
export async function inflateFast(file: FileBytes, sink: InflateSink): Promise<FastResult> {
  const library = load();
  let offset = 0;
  while (library !== null && file.size - offset >= WORTHWHILE_BYTES && instances < MAX_INSTANCES) {
    const header = parseHeader(file.readAt(offset, Buffer.allocUnsafe(MAX_HEADER_BYTES)));
    if (header.kind !== 'header') break;
    const end = await inflateMember(library, file, offset + header.length, sink);
    if (typeof end === 'string') return { kind: end };
    offset = end;
  }
  return { kind: 'reached', offset };
}

/** @returns where the next member would begin. */
async function inflateMember(
  library: ZlibSync,
  file: FileBytes,
  start: number,
  sink: InflateSink,
): Promise<number | 'redo' | 'stopped'> {
  instances += 1;
  const inflate = new library.Inflate({ chunkSize: OUTPUT_BYTES, windowBits: RAW });
  const room = Buffer.allocUnsafe(MAX_SLICE_BYTES);
  let [offset, length, crc] = [start, 0, 0];
  let sliceBytes = MIN_SLICE_BYTES;
  let slices = 0;
  for (;;) {
    const slice = file.readAt(offset, room.subarray(0, sliceBytes));
    if (slice.length === 0) return 'redo';
    inflate.push(slice, library.Z_SYNC_FLUSH);
    const { result, err } = inflate;
    if (result === null) return 'redo';
    crc = crc32(result, crc);
    length += result.length;
    if (result.length > 0 && !sink.data(result)) return 'stopped';
    if (err === library.Z_STREAM_END) {
      return endOfTrailer(file, offset, slice.length, trailerOf(crc, length)) ?? 'redo';
    }
    offset += slice.length;
    slices += 1;
    if (slices % SLICES_A_TURN === 0) await nextTurn();
    sliceBytes = nextSlice(slice.length, result.length);
  }
}

function nextSlice(slice: number, output: number): number {
  const fitting = Math.floor((WANTED_OUTPUT_BYTES * slice) / Math.max(1, output));
  return Math.max(MIN_SLICE_BYTES, Math.min(MAX_SLICE_BYTES, fitting));
}

/** The member ended somewhere in its last slice: there its trailer must stand. */
function endOfTrailer(file: FileBytes, offset: number, length: number, trailer: Buffer): number | null {
  const room = Buffer.allocUnsafe(length + GZIP_TRAILER_BYTES);
  const at = file.readAt(offset, room).indexOf(trailer);
  return at === -1 ? null : offset + at + GZIP_TRAILER_BYTES;
}
