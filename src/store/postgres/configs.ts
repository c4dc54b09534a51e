// Polling configs and durable concurrency limits: small tables, read as a whole.

import { DEFAULT_MAX_CONCURRENCY } from '../../domain/health.ts';
import type { CardCondition, PollingConfig } from '../../domain/polling-config.ts';
import { perTaskType, type TaskType } from '../../domain/task-type.ts';
import type { ConfigRecords } from '../record-store.ts';
import type { SqlClient } from './sql-client.ts';

const COLUMNS = 'id, name, task_type, card_condition, carrier_id, interval_seconds, priority, status';

interface ConfigRow {
  readonly id: number;
  readonly name: string;
  readonly task_type: TaskType;
  readonly card_condition: CardCondition;
  readonly carrier_id: number | null;
  readonly interval_seconds: number;
  readonly priority: number;
  readonly status: 0 | 1;
}

export class SqlConfigs implements ConfigRecords {
  constructor(private readonly client: SqlClient) {}

  async list(): Promise<PollingConfig[]> {
    const rows = await this.client.query<ConfigRow>(`SELECT ${COLUMNS} FROM polling_configs ORDER BY id`);
    return rows.map(toConfig);
  }

  async update(
    id: number,
    patch: { status?: 0 | 1; intervalSeconds?: number },
  ): Promise<PollingConfig | null> {
    const [row] = await this.client.query<ConfigRow>(
      `UPDATE polling_configs
       SET status = coalesce($2::smallint, status), interval_seconds = coalesce($3::integer, interval_seconds)
       WHERE id = $1::integer RETURNING ${COLUMNS}`,
      [id, patch.status ?? null, patch.intervalSeconds ?? null],
    );
    return row === undefined ? null : toConfig(row);
  }

  async concurrency(): Promise<Record<TaskType, number>> {
    const rows = await this.client.query<{ task_type: TaskType; max_concurrency: number }>(
      'SELECT task_type, max_concurrency FROM concurrency_configs',
    );
    const limits = new Map(rows.map((row) => [row.task_type, row.max_concurrency]));
    return perTaskType((taskType) => limits.get(taskType) ?? DEFAULT_MAX_CONCURRENCY);
  }

  async setConcurrency(taskType: TaskType, max: number): Promise<void> {
    await this.client.query(
      `INSERT INTO concurrency_configs (task_type, max_concurrency) VALUES ($1, $2::integer)
       ON CONFLICT (task_type) DO UPDATE SET max_concurrency = excluded.max_concurrency`,
      [taskType, max],
    );
  }
}

function toConfig(row: ConfigRow): PollingConfig {
  return {
    id: row.id,
    name: row.name,
    taskType: row.task_type,
    cardCondition: row.card_condition,
    carrierId: row.carrier_id,
    intervalSeconds: row.interval_seconds,
    priority: row.priority,
    status: row.status,
  };
}
