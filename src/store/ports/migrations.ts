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
  /** Applies what is missing under an advisory lock. @returns ids applied now. Throws `config` when an applied file changed. */
  up(): Promise<string[]>;
}
