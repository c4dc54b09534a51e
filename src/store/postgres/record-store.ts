// The record store on a PostgreSQL server (14 or later). Opened by wiring; tables come from migrations.ts.
import { DATABASE_CONNECTIONS } from '../../platform/connection-bounds.ts';
import type { RecordStore } from '../ports/records/record-store.ts';
import { sqlRecordStore } from '../sql/sql-record-store.ts';
import { PostgresClient } from './pool.ts';

interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** Only reads are sent: a server that takes no writes will do. */
  readonly readsOnly?: boolean;
}

/**
 * Connects lazily: an unreachable server shows in the first call (`ping` for instance), and a store opened during an
 * outage works once the server is back. Throws `config` for a URL that cannot be read.
 */
export async function openPostgresRecordStore(options: PostgresOptions): Promise<RecordStore> {
  const maxConnections = options.maxConnections ?? DATABASE_CONNECTIONS.default;
  return sqlRecordStore('postgres', new PostgresClient({ ...options, maxConnections }));
}
