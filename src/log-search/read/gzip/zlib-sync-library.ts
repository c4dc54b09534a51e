// Inflates with the package zlib-sync, if it is installed. Used by fast-inflate.ts. It does not report where a stream
// ended, returns no data after an error, and leaks some 50 KiB per inflater, so a small rest of a file is not worth one
// and a thread makes a limited number of them.
import { createRequire } from 'node:module';
import { type InflateLibrary, type Inflater, OUTPUT_BYTES } from './inflate-library.ts';

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

/** @throws Node's error when the package is missing or was never built. */
export function zlibSyncLibrary(): InflateLibrary {
  const library = createRequire(import.meta.url)('zlib-sync') as ZlibSync;
  let made = 0;
  return {
    minBytes: WORTHWHILE_BYTES,
    make: () => {
      made += 1;
      return made > MAX_INFLATERS ? null : inflater(library);
    },
  };
}

function inflater(library: ZlibSync): Inflater {
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
