// Which database answers, and on which timeline: a standby that was promoted begins a new one. Used by
// sql-record-store.ts.
import file from './queries/identity.sql';
import type { SqlClient } from './sql-client.ts';
import { sqlStateOf } from './sql-errors.ts';
import { statements } from './statements.ts';

const SQL = statements(file, 'read');

const INSUFFICIENT_PRIVILEGE = '42501';

/** @returns '' where the role may not ask. */
export async function identityOf(client: SqlClient): Promise<string> {
  try {
    const [row] = await client.query<{ identity: string }>(SQL.read);
    return row?.identity ?? '';
  } catch (error) {
    if (sqlStateOf(error) === INSUFFICIENT_PRIVILEGE) return '';
    throw error;
  }
}
