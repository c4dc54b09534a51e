// Port section of live-store.ts: since when something is wrong.

/** Since when something is wrong, told by names. */
export interface HealthLog {
  /** Notes that these hold now. What is not noted again for `holdsMs` has ended; noted after that, it begins anew. */
  note(names: readonly string[], holdsMs: number): Promise<void>;
  /** Name -> since when it holds without a gap. */
  since(): Promise<ReadonlyMap<string, number>>;
}
