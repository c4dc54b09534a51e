// The bounds and the default for the database connections of one instance, for the settings table and for the pool
// (store/postgres).

interface ConnectionBounds {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

/** At least two: one may be busy with a long statement, for example a count. */
export const DATABASE_CONNECTIONS: ConnectionBounds = { min: 2, max: 1_000, default: 8 };
