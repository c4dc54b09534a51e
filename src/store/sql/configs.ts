// Polling configs and durable concurrency limits: small tables, read as a whole.

import { DEFAULT_MAX_CONCURRENCY } from '../../domain/health.ts';
import type { CardCondition, PollingConfig } from '../../domain/polling-config.ts';
import { perTaskType, type TaskType } from '../../domain/task-type.ts';
import type { ConfigRecords } from '../ports/config-records.ts';
import type { SqlClient, SqlRunner } from './sql-client.ts';
import { sqlStateOf } from './sql-errors.ts';

const UNIQUE_VIOLATION = '23505';

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

  async create(config: Omit<PollingConfig, 'id'>): Promise<PollingConfig> {
    try {
      // A transaction of its own, so that one around it survives the attempt.
      return await this.client.transaction((tx) => insert(tx, config));
    } catch (error) {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
      // Somebody chose ids of his own in SQL: go on behind them.
      await this.client.query(
        `SELECT setval(pg_get_serial_sequence('polling_configs', 'id'), (SELECT max(id) FROM polling_configs))`,
      );
      return insert(this.client, config);
    }
  }

  async update(id: number, patch: Partial<Omit<PollingConfig, 'id'>>): Promise<PollingConfig | null> {
    const [row] = await this.client.query<ConfigRow>(
      `UPDATE polling_configs
       SET name = coalesce($2, name), task_type = coalesce($3, task_type),
         card_condition = coalesce($4, card_condition),
         carrier_id = CASE WHEN $5 THEN $6::integer ELSE carrier_id END,
         interval_seconds = coalesce($7::integer, interval_seconds),
         priority = coalesce($8::integer, priority), status = coalesce($9::smallint, status)
       WHERE id = $1::integer RETURNING ${COLUMNS}`,
      [
        id,
        patch.name ?? null,
        patch.taskType ?? null,
        patch.cardCondition ?? null,
        // null is a value of its own here: every carrier.
        patch.carrierId !== undefined,
        patch.carrierId ?? null,
        patch.intervalSeconds ?? null,
        patch.priority ?? null,
        patch.status ?? null,
      ],
    );
    return row === undefined ? null : toConfig(row);
  }

  async remove(id: number): Promise<PollingConfig | null> {
    const [row] = await this.client.query<ConfigRow>(
      `DELETE FROM polling_configs WHERE id = $1::integer RETURNING ${COLUMNS}`,
      [id],
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

async function insert(runner: SqlRunner, config: Omit<PollingConfig, 'id'>): Promise<PollingConfig> {
  const [row] = await runner.query<ConfigRow>(
    `INSERT INTO polling_configs (name, task_type, card_condition, carrier_id, interval_seconds, priority, status)
     VALUES ($1, $2, $3, $4::integer, $5::integer, $6::integer, $7::smallint) RETURNING ${COLUMNS}`,
    [
      config.name,
      config.taskType,
      config.cardCondition,
      config.carrierId,
      config.intervalSeconds,
      config.priority,
      config.status,
    ],
  );
  return toConfig(row as ConfigRow);
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
