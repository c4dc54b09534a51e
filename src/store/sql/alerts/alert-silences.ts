// Silences of alerts. Whom one is about is decided by alert_is_silenced() of migration 0010, where alerts are read and
// notifications claimed. Those that are over are removed when the next one is made.
import type { Silence } from '../../../domain/alerts/alert-silence.ts';
import type { NewSilence, SilenceRecords } from '../../ports/records/alert-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alert-silences.sql';

const SQL = statements(file, 'list', 'forgetEnded', 'create', 'remove');

export class SqlSilences implements SilenceRecords {
  constructor(private readonly client: SqlClient) {}

  list(): Promise<Silence[]> {
    return this.client.query<Silence>(SQL.list);
  }

  create({ ruleId, ruleType, taskType, reason, by, ends }: NewSilence): Promise<Silence> {
    return this.client.transaction(async (tx) => {
      await tx.query(SQL.forgetEnded);
      const [silence] = await tx.query<Silence>(SQL.create, [
        ruleId,
        ruleType,
        taskType,
        reason,
        by,
        'atMs' in ends ? ends.atMs : null,
        'inSeconds' in ends ? ends.inSeconds : null,
      ]);
      return silence as Silence;
    });
  }

  async remove(id: number): Promise<Silence | null> {
    const [silence = null] = await this.client.query<Silence>(SQL.remove, [id]);
    return silence;
  }
}
