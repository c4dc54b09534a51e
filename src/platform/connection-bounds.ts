// How many connections one instance may open, and opens unless told otherwise. The one definition for the settings table
// and for those who open the connections: the database pool (store/postgres) and the gateway client.

interface ConnectionBounds {
  readonly min: number;
  readonly max: number;
  /** Unless set. */
  readonly usual: number;
}

/** Two at least: one may be busy with a long statement, a count for instance. */
export const DATABASE_CONNECTIONS: ConnectionBounds = { min: 2, max: 1_000, usual: 8 };

/** As many as usual are above any sensible sum of the concurrency limits: the limits hold calls back, not the pool. */
export const GATEWAY_CONNECTIONS: ConnectionBounds = { min: 1, max: 65_535, usual: 4_096 };
