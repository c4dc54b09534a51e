// Inflates raw deflate data, slice by slice. Used by inflate.ts. The fast libraries are synchronous, so a thread only inflates
// and searches; each is tested first, because one may be missing or not built, and the other is internal to Node, which may
// change it. The streams of node:zlib are slower, but documented, and report errors. Inflating and checking 156 MB of JSON logs
// on one thread took 108 ms by the handle of node:zlib, 139 ms by zlib-sync and 177 ms by the streams.

import { createRequire } from 'node:module';
import { constants, createInflateRaw, deflateRawSync, type InflateRaw } from 'node:zlib';
import type { InflateChoice } from '../../model.ts';

/** `failed`: the data of this and earlier slices may be wrong. */
type InflateState = 'open' | 'ended' | 'failed' | 'stopped';

/** One deflate stream. */
export interface Inflater {
  /**
   * Inflates a slice of the stream.
   * @returns `ended` when the stream ended in this slice, or in the previous one.
   */
  push(slice: Buffer): InflateState | Promise<InflateState>;
  /** Number of bytes of the last slice that belonged to the stream; null: the library does not report it. */
  readonly endsAt: number | null;
  close(): void;
}

/** Gets the data, valid only during the call; returns false to stop. */
export type Emit = (data: Buffer) => boolean;

/** Null when an inflater is not worth its cost for this many remaining bytes, or this thread has made the maximum number. */
type MakeInflater = (emit: Emit, remainingBytes: number) => Inflater | null;

/** Size of the output buffer: small enough to stay in a processor's cache until it is searched. */
export const OUTPUT_BYTES = 524_288;

interface Library {
  readonly name: string;
  /** @throws when this Node cannot use it, or it is not installed. */
  readonly load: () => MakeInflater;
}

const ZLIB_HANDLE: Library = { name: 'the handle of node:zlib', load: nodeLibrary };
const ZLIB_SYNC: Library = { name: 'zlib-sync', load: zlibSyncLibrary };

const LIBRARIES: Readonly<Record<InflateChoice, readonly Library[]>> = {
  auto: [ZLIB_HANDLE, ZLIB_SYNC],
  'zlib-sync': [ZLIB_SYNC],
  node: [],
};

interface LoadedLibrary {
  readonly name: string;
  readonly make: MakeInflater;
}

const loaded = new Map<InflateChoice, LoadedLibrary | null>();

/** The first library of the choice that is installed and works; null: none. */
export function fastLibrary(choice: InflateChoice): MakeInflater | null {
  return loadedLibrary(choice)?.make ?? null;
}

/** One sentence for `logs -v`: which library inflates, and whether this Node can load zlib-sync. */
export function inflateWords(): string {
  const used = `gzip is inflated with ${loadedLibrary('auto')?.name ?? 'the streams of node:zlib'}`;
  return zlibSyncAborts() ? `${used}; zlib-sync is not loaded: it aborts Node 24 and later` : used;
}

function loadedLibrary(choice: InflateChoice): LoadedLibrary | null {
  const known = loaded.get(choice);
  if (known !== undefined) return known;
  const library = LIBRARIES[choice].reduce<LoadedLibrary | null>((found, { name, load }) => {
    if (found !== null) return found;
    const make = tryOut(load);
    return make === null ? null : { name, make };
  }, null);
  loaded.set(choice, library);
  return library;
}

/** Null when the library is not installed, or fails a test of everything that inflate.ts needs, including after an error. */
function tryOut(load: () => MakeInflater): MakeInflater | null {
  try {
    const library = load();
    return canInflate(library) && canFail(library) && canInflate(library) ? library : null;
  } catch {
    return null;
  }
}

function canInflate(library: MakeInflater): boolean {
  const sample = Buffer.alloc(OUTPUT_BYTES + 1_000, 'a line to try it with\n');
  const deflated = Buffer.concat([deflateRawSync(sample, { level: 1 }), Buffer.from('behind')]);
  let checked = 0;
  const check = (data: Buffer) => {
    const expected = sample.subarray(checked, checked + data.length);
    checked += data.length;
    return data.equals(expected);
  };
  const inflater = library(check, Number.POSITIVE_INFINITY);
  const states = [deflated.subarray(0, 99), deflated.subarray(99)].map((part) => inflater?.push(part));
  inflater?.close();
  return states.join() === 'open,ended' && checked === sample.length;
}

function canFail(library: MakeInflater): boolean {
  const inflater = library(() => true, Number.POSITIVE_INFINITY);
  const state = inflater?.push(Buffer.alloc(64, 0xff));
  inflater?.close();
  return state === 'failed';
}

/** The internals of a stream that nodeLibrary uses. */
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
 * The handle inside a stream of node:zlib: the same native code, without the thread pool and the copies of the stream. Node has
 * had it since its first versions but does not document it, so it is tested, and inflate.ts accepts no member with a wrong
 * checksum.
 */
function nodeLibrary(): MakeInflater {
  const output = Buffer.allocUnsafe(OUTPUT_BYTES);
  // Creating a stream costs more than inflating a small member.
  let spare: Internals | null = null;
  return (emit) => {
    const stream = spare ?? (createInflateRaw() as unknown as Internals);
    spare = null;
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
      push: (slice) => {
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
      close: () => {
        if (failed) handle.close();
        else spare = stream;
      },
    };
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
 * Whether zlib-sync may end this process. Built with the headers of Node 24.19 and later, it aborts when its objects are
 * garbage-collected (nodejs/node issue 65446), mostly in worker threads and forks, which no test at loading can detect.
 */
function zlibSyncAborts(): boolean {
  return Number.parseInt(process.versions.node, 10) >= 24;
}

/**
 * The package zlib-sync. It does not report where a stream ended, returns no data after an error, and leaks some 50 KiB per
 * inflater, so a small rest of a file is not worth one and a thread makes a limited number of them.
 * @throws Node's error when the package is missing or was never built; an error where it would abort Node.
 */
function zlibSyncLibrary(): MakeInflater {
  if (zlibSyncAborts()) throw new Error('zlib-sync aborts Node 24 and later');
  const library = createRequire(import.meta.url)('zlib-sync') as ZlibSync;
  let made = 0;
  return (emit, remainingBytes) => {
    if (remainingBytes <= WORTHWHILE_BYTES || made === MAX_INFLATERS) return null;
    made += 1;
    const inflate = new library.Inflate({ chunkSize: OUTPUT_BYTES, windowBits: RAW });
    return {
      push: (slice) => {
        inflate.push(slice, library.Z_SYNC_FLUSH);
        const { result, err } = inflate;
        if (result === null) return 'failed';
        if (result.length > 0 && !emit(result)) return 'stopped';
        return err === library.Z_STREAM_END ? 'ended' : 'open';
      },
      endsAt: null,
      close: () => {},
    };
  };
}

const BEFORE_THE_START = Buffer.alloc(32_768);

/** A stream of node:zlib. All emitted data is correct, even if it fails later. */
export class StreamInflater implements Inflater {
  reason = '';
  readonly #stream: InflateRaw;
  #state: InflateState = 'open';
  #settle: () => void = () => {};
  #thrown: { readonly error: unknown } | null = null;
  /** Number of bytes in all slices before the last. */
  #bytesBefore = 0;
  #lastBytes = 0;

  constructor(emit: Emit) {
    this.#stream = createInflateRaw({ chunkSize: OUTPUT_BYTES, dictionary: BEFORE_THE_START });
    this.#stream.on('data', (data: Buffer) => {
      try {
        if (this.#state !== 'stopped' && !emit(data)) this.#become('stopped');
      } catch (error) {
        // An error thrown in this callback would be lost.
        this.#thrown = { error };
        this.#become('stopped');
      }
    });
    this.#stream.on('end', () => this.#become('ended'));
    this.#stream.on('error', (error) => {
      this.reason = error.message;
      this.#become('failed');
    });
  }

  get endsAt(): number {
    return this.#stream.bytesWritten - this.#bytesBefore;
  }

  /** Resolves when all the slice's data has been emitted. */
  async push(slice: Buffer): Promise<InflateState> {
    this.#bytesBefore += this.#lastBytes;
    this.#lastBytes = slice.length;
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      // A copy, because zlib may still use it when the next slice is read.
      this.#stream.write(Buffer.from(slice), () => resolve());
    });
    if (this.#thrown !== null) throw this.#thrown.error;
    return this.#state;
  }

  close(): void {
    this.#stream.destroy();
  }

  #become(state: InflateState): void {
    if (this.#state === 'open') this.#state = state;
    this.#settle();
  }
}
