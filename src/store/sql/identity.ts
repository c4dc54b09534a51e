// Which database answers, and on which timeline: a standby that was promoted begins a new one. Used by
// sql-record-store.ts.

import type { SqlClient } from './client/sql-client.ts';
import { sqlStateOf } from './client/sql-errors.ts';
import { statements } from './client/statements.ts';
import file from './identity.sql';

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
