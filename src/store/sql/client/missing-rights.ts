// Finds the rights that the role of the database URL lacks before they are needed: otherwise a missing partition would show only
// when the month turns. Called at the start of a daemon and by the doctor (docs/security.md, "The PostgreSQL user").
import type { LackedRights } from '../../ports/records/record-store.ts';
import { type DatabaseUser, grantFor } from './missing-right.ts';
import file from './missing-rights.sql';
import type { SqlRunner } from './sql-client.ts';
import { statements } from './statements.ts';

const sql = statements(file);

type Refused = DatabaseUser & { readonly message: string; readonly monthly: boolean };

export async function findLackedRights(runner: SqlRunner): Promise<LackedRights> {
  const refused = await sql.on(runner).rows<Refused>('all');
  const lacked = (monthly: boolean) =>
    refused
      .filter((one) => one.monthly === monthly)
      .map(({ message, ...user }) => ({ message, remedy: grantFor(message, user) }));
  return { role: refused[0]?.role ?? '', always: lacked(false), monthly: lacked(true) };
}
