// Where inflated data goes: what inflate.ts and fast-inflate.ts hand it to.

export interface InflateSink {
  /** The next data; valid only during the call. Returns false to stop. */
  data(chunk: Buffer): boolean;
  /** Whether nothing more is wanted, where there is nothing to hand out for long. */
  isStopped(): boolean;
  /** Something is missing here: what follows is not the continuation of what came before. */
  gap(): void;
}
