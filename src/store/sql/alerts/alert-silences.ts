// Silences of alerts. Whom one is about is decided by alert_is_silenced() of migration 0010, where alerts are read and
// notifications claimed. Those that are over are removed when the next one is made.
import type { RuleType } from '../../../domain/alerts/alert-rule.ts';
import type { Silence } from '../../../domain/alerts/alert-silence.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { NewSilence, SilenceRecords } from '../../ports/records/alert-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alert-silences.sql';

const SQL = statements(file, 'list', 'forgetEnded', 'create', 'remove');

interface SilenceRow {
  readonly id: number;
  readonly rule_id: number | null;
  readonly rule_type: RuleType | null;
  readonly task_type: TaskType | null;
  readonly reason: string;
  readonly created_by: string;
  readonly created_at_ms: number;
  readonly ends_at_ms: number;
}

export class SqlSilences implements SilenceRecords {
  constructor(private readonly client: SqlClient) {}

  async list(): Promise<Silence[]> {
    const rows = await this.client.query<SilenceRow>(SQL.list);
    return rows.map(toSilence);
  }

  create({ ruleId, ruleType, taskType, reason, by, ends }: NewSilence): Promise<Silence> {
    return this.client.transaction(async (tx) => {
      await tx.query(SQL.forgetEnded);
      const [row] = await tx.query<SilenceRow>(SQL.create, [
        ruleId,
        ruleType,
        taskType,
        reason,
        by,
        'atMs' in ends ? ends.atMs : null,
        'inSeconds' in ends ? ends.inSeconds : null,
      ]);
      return toSilence(row as SilenceRow);
    });
  }

  async remove(id: number): Promise<Silence | null> {
    const [row] = await this.client.query<SilenceRow>(SQL.remove, [id]);
    return row === undefined ? null : toSilence(row);
  }
}

function toSilence(row: SilenceRow): Silence {
  return {
    id: row.id,
    ruleId: row.rule_id,
    ruleType: row.rule_type,
    taskType: row.task_type,
    reason: row.reason,
    by: row.created_by,
    sinceMs: row.created_at_ms,
    untilMs: row.ends_at_ms,
  };
}
