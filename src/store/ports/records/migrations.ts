// Port section of record-store.ts: the schema and its migrations.

export interface MigrationState {
  readonly id: string;
  readonly appliedAtMs: number | null;
  /** True for a migration of a later release, which this release does not know. */
  readonly newer: boolean;
}

export interface Migrations {
  /** @returns the migrations of this release in order, then newer ones. */
  status(): Promise<MigrationState[]>;
  /**
   * Applies missing migrations under an advisory lock, without a time limit.
   * @param onBegin called with the id of each migration before it is applied
   * @returns the ids of the applied migrations
   * @throws CardpollError `config` when the file of an applied migration has changed
   */
  up(onBegin?: (id: string) => void): Promise<string[]>;
}
