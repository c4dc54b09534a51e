// The record store on a PostgreSQL server (14 or later). Opened by wiring; tables come from migrations.ts.
import type { RecordStore } from '../ports/records/record-store.ts';
import { sqlRecordStore } from '../sql/sql-record-store.ts';
import { PostgresClient } from './pool.ts';

interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly applicationName: string;
  /** Absent: those of a command; a daemon has a setting. */
  readonly maxConnections?: number;
  /** Only reads are sent: a server that takes no writes will do. */
  readonly readsOnly?: boolean;
}

const COMMAND_CONNECTIONS = 8;

/**
 * Connects lazily: an unreachable server shows in the first call (`ping` for instance), and a store opened during an
 * outage works once the server is back. Throws `config` for a URL that cannot be read.
 */
export async function openPostgresRecordStore(options: PostgresOptions): Promise<RecordStore> {
  return sqlRecordStore('postgres', new PostgresClient({ maxConnections: COMMAND_CONNECTIONS, ...options }));
}
