// What the database says of itself: its clock, which database answers, whose fleet it is, and the state of its server. Used by
// sql-record-store.ts.
import type { Fleet } from '../../domain/fleet.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { RecordServer } from '../ports/records/record-store.ts';
import type { SqlClient } from './client/sql-client.ts';
import { sqlStateOf } from './client/sql-errors.ts';
import { statements } from './client/statements.ts';
import file from './database.sql';

const SQL = statements(file, 'ping', 'now', 'fleet', 'identity', 'server', 'oldestWriter', 'usageMonths');

const INSUFFICIENT_PRIVILEGE = '42501';

export async function ping(client: SqlClient): Promise<void> {
  await client.query(SQL.ping);
}

export async function now(client: SqlClient): Promise<number> {
  const [row] = await client.query<{ nowMs: number }>(SQL.now);
  return Number(row?.nowMs);
}

export async function fleetOf(client: SqlClient): Promise<Fleet> {
  const [row] = await client.query<Fleet>(SQL.fleet);
  if (row !== undefined) return row;
  throw new CardpollError(
    'config',
    'fleet_missing',
    'the table fleet is empty: this database is of no fleet',
    { hint: 'put its row back: docs/upgrading.md, "A copied or restored database"' },
  );
}

/**
 * Which database answers, and on which timeline: a standby that was promoted begins a new one. @returns '' where the role
 * may not ask.
 */
export async function identityOf(client: SqlClient): Promise<string> {
  try {
    const [row] = await client.query<{ identity: string }>(SQL.identity);
    return row?.identity ?? '';
  } catch (error) {
    if (sqlStateOf(error) === INSUFFICIENT_PRIVILEGE) return '';
    throw error;
  }
}

type ServerRow = Omit<RecordServer, 'oldestWriter' | 'usageMonths'>;

/**
 * The state of the server, as far as any user who may log in can read it, for the doctor.
 * @param applicationName under which daemons are connected
 */
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
