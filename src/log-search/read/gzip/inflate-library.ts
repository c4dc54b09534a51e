// The port for synchronous inflating of raw deflate data, so that a thread only inflates and searches. Implemented by
// node-library.ts and zlib-sync-library.ts, chosen by choose-library.ts, used by fast-inflate.ts.

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
