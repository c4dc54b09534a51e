// Which fleet the database is. Used by sql-record-store.ts.
import type { Fleet } from '../../domain/fleet.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { SqlClient } from './client/sql-client.ts';
import { statements } from './client/statements.ts';
import file from './fleet.sql';

const SQL = statements(file, 'read');

export async function fleetOf(client: SqlClient): Promise<Fleet> {
  const [row] = await client.query<Fleet>(SQL.read);
  if (row !== undefined) return row;
  throw new CardpollError(
    'config',
    'fleet_missing',
    'the table fleet is empty: this database is of no fleet',
    { hint: 'put its row back: docs/upgrading.md, "A copied or restored database"' },
  );
}
