// Inflates with the handle inside a stream of node:zlib: the same native code, without the thread pool and the copies of
// the stream. Node has had it since its first versions but does not document it, so choose-library.ts tests it before
// its first use, and fast-inflate.ts accepts no member with a wrong checksum.
import { constants, createInflateRaw } from 'node:zlib';
import { scanBuffer } from '../../match/find-bytes.ts';
import { type InflateLibrary, type Inflater, OUTPUT_BYTES } from './inflate-library.ts';

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

export function nodeLibrary(): InflateLibrary {
  const output = scanBuffer().subarray(0, OUTPUT_BYTES);
  // Making a stream costs more than a small member does.
  let spare: Internals | null = null;
  return {
    minBytes: 0,
    make: () => {
      const stream = spare ?? (createInflateRaw() as unknown as Internals);
      spare = null;
      return inflater(stream, output, () => {
        spare = stream;
      });
    },
  };
}

/** @param release called when the stream can be used again. */
function inflater(stream: Internals, output: Buffer, release: () => void): Inflater {
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
