// Port section of live-store.ts: since when each problem has existed.

/** Stores since when each named problem has existed. */
export interface HealthLog {
  /** Notes problems that exist now. One that is not noted again within `holdsMs` has ended, and later begins anew. */
  note(names: readonly string[], holdsMs: number): Promise<void>;
  /** @returns name -> since when the problem has existed without a gap, epoch milliseconds. */
  since(): Promise<ReadonlyMap<string, number>>;
}
