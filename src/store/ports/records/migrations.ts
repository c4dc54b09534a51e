// Port section of record-store.ts: the schema and its history.

export interface MigrationState {
  readonly id: string;
  readonly appliedAtMs: number | null;
  /** Applied by a later release, which this one knows nothing of. */
  readonly newer: boolean;
}

export interface Migrations {
  /** Those of this release in order, then newer ones. */
  status(): Promise<MigrationState[]>;
  /**
   * Applies what is missing under an advisory lock, however long it takes. Throws `config` when an applied file changed.
   * @param onBegin called with the id of each before it is applied @returns ids applied now
   */
  up(onBegin?: (id: string) => void): Promise<string[]>;
}
