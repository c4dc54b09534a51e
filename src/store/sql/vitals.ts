// The state of the database server, as far as any user who may log in can read it. Used by sql-record-store.ts for the doctor.
import type { RecordServer } from '../ports/records/record-store.ts';
import type { SqlClient } from './client/sql-client.ts';
import { statements } from './client/statements.ts';
import file from './vitals.sql';

const SQL = statements(file, 'server', 'oldestWriter', 'usageMonths');

type ServerRow = Omit<RecordServer, 'oldestWriter' | 'usageMonths'>;

/** @param applicationName under which daemons are connected */
export async function serverOf(client: SqlClient, applicationName: string): Promise<RecordServer> {
  const [row] = await client.query<ServerRow>(SQL.server, [applicationName]);
  const [oldestWriter = null] = await client.query<NonNullable<RecordServer['oldestWriter']>>(
    SQL.oldestWriter,
  );
  const months = await client.query<{ month: string }>(SQL.usageMonths);
  return {
    ...(row as ServerRow),
    oldestWriter,
    usageMonths: months.map(({ month }) => month.replace('_', '-')),
  };
}
