// Which database answers, and on which timeline: a standby that was promoted begins a new one. Used by
// sql-record-store.ts.
import type { SqlClient } from './sql-client.ts';
import { sqlStateOf } from './sql-errors.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

/** @returns '' where the role may not ask. */
export async function identityOf(client: SqlClient): Promise<string> {
  try {
    const [row] = await client.query<{ identity: string }>(
      `SELECT system_identifier::text || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS identity
       FROM pg_control_system()`,
    );
    return row?.identity ?? '';
  } catch (error) {
    if (sqlStateOf(error) === INSUFFICIENT_PRIVILEGE) return '';
    throw error;
  }
}
