// How the database server is, as it tells anybody who may log in. Used by sql-record-store.ts for the doctor.
import type { RecordServer } from '../ports/records/record-store.ts';
import type { SqlClient } from './client/sql-client.ts';
import { statements } from './client/statements.ts';
import file from './vitals.sql';

const SQL = statements(file, 'server', 'oldestWriter', 'usageMonths');

interface ServerRow {
  readonly version: number;
  readonly max_connections: number;
  readonly reserved_connections: number;
  readonly connections: number;
  readonly own_connections: number;
  readonly read_only: boolean;
  readonly waits_for_standby: boolean;
  readonly standbys: number;
}

interface WriterRow {
  readonly database: string;
  readonly open_ms: number;
  readonly remedy: string;
}

/** @param applicationName under which daemons are connected */
export async function serverOf(client: SqlClient, applicationName: string): Promise<RecordServer> {
  const [row] = await client.query<ServerRow>(SQL.server, [applicationName]);
  const server = row as ServerRow;
  const [writer] = await client.query<WriterRow>(SQL.oldestWriter);
  const months = await client.query<{ month: string }>(SQL.usageMonths);
  return {
    majorVersion: Math.floor(server.version / 10_000),
    maxConnections: server.max_connections - server.reserved_connections,
    connections: server.connections,
    ownConnections: server.own_connections,
    readOnly: server.read_only,
    waitsForStandby: server.waits_for_standby,
    standbys: server.standbys,
    oldestWriter:
      writer === undefined
        ? null
        : { database: writer.database, openMs: Number(writer.open_ms), remedy: writer.remedy },
    usageMonths: months.map(({ month }) => month.replace('_', '-')),
  };
}
