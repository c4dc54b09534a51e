// Inflates raw deflate data synchronously, so that a thread only inflates and searches: with the first library of a choice
// that is installed and passes a test. Used by fast-inflate.ts. All libraries need the test: one may be missing or not
// built, the other is internal to Node, which may change it.

import { createRequire } from 'node:module';
import { constants, createInflateRaw, deflateRawSync } from 'node:zlib';
import { scanBuffer } from '../../match/find-bytes.ts';
import type { InflateChoice } from '../../model.ts';

export interface InflateLibrary {
  /** An inflater is not worth its cost for this many remaining bytes or fewer. */
  readonly minBytes: number;
  /** Null when this thread has made the maximum number. */
  make(): Inflater | null;
}

/** `failed`: the data of this and earlier slices may be wrong. */
type InflateState = 'open' | 'ended' | 'failed' | 'stopped';

/** One deflate stream. */
export interface Inflater {
  /**
   * Inflates a slice of the stream.
   * @param emit gets the data, valid only during the call; returns false to stop.
   * @returns `ended` when the stream ended in this slice, or in the one before.
   */
  push(slice: Buffer, emit: (data: Buffer) => boolean): InflateState;
  /** How many bytes of the last slice belonged to the stream; null when the library does not report it. */
  readonly endsAt: number | null;
  close(): void;
}

/** Size of the output buffer: small enough to stay in a processor's cache until it is searched. */
export const OUTPUT_BYTES = 524_288;

const LIBRARIES: Readonly<Record<InflateChoice, ReadonlyArray<() => InflateLibrary>>> = {
  auto: [nodeLibrary, zlibSyncLibrary],
  'zlib-sync': [zlibSyncLibrary],
  node: [],
};

const loaded = new Map<InflateChoice, InflateLibrary | null>();

/** The first library of the choice that is installed and works; null: none. */
export function libraryFor(choice: InflateChoice): InflateLibrary | null {
  const known = loaded.get(choice);
  if (known !== undefined) return known;
  const library = LIBRARIES[choice].reduce<InflateLibrary | null>(
    (found, load) => found ?? tryOut(load),
    null,
  );
  loaded.set(choice, library);
  return library;
}

/** Null when the library is not installed, or fails a test of all that fast-inflate.ts needs, also after an error. */
function tryOut(load: () => InflateLibrary): InflateLibrary | null {
  try {
    const library = load();
    return canInflate(library) && canFail(library) && canInflate(library) ? library : null;
  } catch {
    return null;
  }
}

function canInflate(library: InflateLibrary): boolean {
  const sample = Buffer.alloc(OUTPUT_BYTES + 1_000, 'a line to try it with\n');
  const deflated = Buffer.concat([deflateRawSync(sample, { level: 1 }), Buffer.from('behind')]);
  const inflater = library.make();
  let checked = 0;
  const check = (data: Buffer) => {
    const expected = sample.subarray(checked, checked + data.length);
    checked += data.length;
    return data.equals(expected);
  };
  const states = [deflated.subarray(0, 99), deflated.subarray(99)].map((part) => inflater?.push(part, check));
  inflater?.close();
  return states.join() === 'open,ended' && checked === sample.length;
}

function canFail(library: InflateLibrary): boolean {
  const inflater = library.make();
  const state = inflater?.push(Buffer.alloc(64, 0xff), () => true);
  inflater?.close();
  return state === 'failed';
}

/** What nodeLibrary uses of a stream. */
interface Internals {
  /** After a write: free bytes of the output, remaining bytes of the input. */
  readonly _writeState: Uint32Array;
  readonly _handle: {
    onerror: () => void;
    writeSync(
      flush: number,
      ...range: [input: Buffer, at: number, length: number, output: Buffer, at: number, length: number]
    ): void;
    reset(): void;
    close(): void;
  };
}

/**
 * The handle inside a stream of node:zlib: the same native code, without the thread pool and the copies of the stream. Node
 * has had it since its first versions but does not document it, so it is tested, and fast-inflate.ts accepts no member with
 * a wrong checksum.
 */
function nodeLibrary(): InflateLibrary {
  const output = scanBuffer().subarray(0, OUTPUT_BYTES);
  // Making a stream costs more than a small member does.
  let spare: Internals | null = null;
  return {
    minBytes: 0,
    make: () => {
      const stream = spare ?? (createInflateRaw() as unknown as Internals);
      spare = null;
      return handleInflater(stream, output, () => {
        spare = stream;
      });
    },
  };
}

/** @param release called when the stream can be used again. */
function handleInflater(stream: Internals, output: Buffer, release: () => void): Inflater {
  const { _handle: handle, _writeState: state } = stream;
  let failed = false;
  let endsAt: number | null = null;
  handle.onerror = () => {
    failed = true;
  };
  handle.reset();
  return {
    get endsAt() {
      return endsAt;
    },
    push: (slice, emit) => {
      for (let at = 0; ; ) {
        handle.writeSync(constants.Z_SYNC_FLUSH, slice, at, slice.length - at, output, 0, output.length);
        if (failed) return 'failed';
        const [room = 0, left = 0] = state;
        at = slice.length - left;
        if (room < output.length && !emit(output.subarray(0, output.length - room))) return 'stopped';
        if (room === 0) continue;
        if (left === 0) return 'open';
        endsAt = at;
        return 'ended';
      }
    },
    close: () => (failed ? handle.close() : release()),
  };
}

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
const WORTHWHILE_BYTES = 131_072;
const MAX_INFLATERS = 300;

/**
 * The package zlib-sync. It does not report where a stream ended, returns no data after an error, and leaks some 50 KiB per
 * inflater, so a small rest of a file is not worth one and a thread makes a limited number of them.
 * @throws Node's error when the package is missing or was never built.
 */
function zlibSyncLibrary(): InflateLibrary {
  const library = createRequire(import.meta.url)('zlib-sync') as ZlibSync;
  let made = 0;
  return {
    minBytes: WORTHWHILE_BYTES,
    make: () => {
      made += 1;
      return made > MAX_INFLATERS ? null : zlibSyncInflater(library);
    },
  };
}

function zlibSyncInflater(library: ZlibSync): Inflater {
  const inflate = new library.Inflate({ chunkSize: OUTPUT_BYTES, windowBits: RAW });
  return {
    push: (slice, emit) => {
      inflate.push(slice, library.Z_SYNC_FLUSH);
      const { result, err } = inflate;
      if (result === null) return 'failed';
      if (result.length > 0 && !emit(result)) return 'stopped';
      return err === library.Z_STREAM_END ? 'ended' : 'open';
    },
    endsAt: null,
    close: () => {},
  };
}
