// The results of changes by requests that may be sent again, as rows. Those older than a day are removed with the next one.
import type { MadeChanges } from '../../ports/records/audit-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './made-changes.sql';

const SQL = statements(file, 'find', 'forget', 'add');

export class SqlMadeChanges implements MadeChanges {
  constructor(private readonly client: SqlClient) {}

  async find(key: string): Promise<string | null> {
    const [row] = await this.client.query<{ result: string }>(SQL.find, [key]);
    return row?.result ?? null;
  }

  async add(key: string, result: string): Promise<void> {
    await this.client.query(SQL.forget);
    await this.client.query(SQL.add, [key, result]);
  }
}
