// How many connections to the database one instance may open, and opens unless told otherwise. The one definition for
// the settings table and for the pool (store/postgres).

interface ConnectionBounds {
  readonly min: number;
  readonly max: number;
  /** Unless set. */
  readonly usual: number;
}

/** Two at least: one may be busy with a long statement, a count for instance. */
export const DATABASE_CONNECTIONS: ConnectionBounds = { min: 2, max: 1_000, usual: 8 };
