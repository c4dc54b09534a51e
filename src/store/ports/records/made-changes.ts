// Port section of record-store.ts: the results of changes by requests that may be sent again. Kept for a day.

export interface MadeChanges {
  /** @returns the result of the change with this key; null: it was not made. */
  find(key: string): Promise<string | null>;
  /** Call in the transaction of the change (`inTurn`). */
  add(key: string, result: string): Promise<void>;
}
