// A way to inflate raw deflate data synchronously, so that a thread does nothing but inflate and search. Implemented by
// node-library.ts and zlib-sync-library.ts, chosen by choose-library.ts, used by fast-inflate.ts.

export interface InflateLibrary {
  /** With no more than so much of a file left, an inflater is not worth it. */
  readonly minBytes: number;
  /** Null when this thread has made as many as it should. */
  make(): Inflater | null;
}

/** `failed`: what was handed out for this and earlier slices cannot be believed. */
type InflateState = 'open' | 'ended' | 'failed' | 'stopped';

/** One deflate stream. */
export interface Inflater {
  /**
   * Hands out what a slice of the stream inflates to.
   * @param emit gets the data, valid only during the call; returns false to stop.
   * @returns `ended` when the stream ended in this slice, or in the one before.
   */
  push(slice: Buffer, emit: (data: Buffer) => boolean): InflateState;
  /** How much of the slice in which it ended belonged to the stream; null when the library cannot tell. */
  readonly endsAt: number | null;
  close(): void;
}

/** Room for what a slice inflates to: small enough to stay in a processor's cache until it is searched. */
export const OUTPUT_BYTES = 524_288;
