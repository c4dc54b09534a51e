// Polling configs and durable concurrency limits: small tables, read as a whole.

import { DEFAULT_MAX_CONCURRENCY } from '../../../domain/limits/max-concurrency.ts';
import type { CardCondition, PollingConfig } from '../../../domain/schedule/polling-config.ts';
import { perTaskType, type TaskType } from '../../../domain/task-type.ts';
import type { ConfigRecords } from '../../ports/records/config-records.ts';
import { UNIQUE_VIOLATION } from '../client/retry-conflicts.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { sqlStateOf } from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import file from './configs.sql';

const SQL = statements(
  file,
  'list',
  'create',
  'passUsedIds',
  'update',
  'remove',
  'concurrency',
  'setConcurrency',
);

/** A handful of rows, and their answer proves that the database is reached (engine/schedule/config-watch.ts). */
const LIST_ANSWER_TIMEOUT_MS = 3_000;

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
    const rows = await this.client.query<ConfigRow>({ ...SQL.list, answerTimeoutMs: LIST_ANSWER_TIMEOUT_MS });
    return rows.map(toConfig);
  }

  async create(config: Omit<PollingConfig, 'id'>): Promise<PollingConfig> {
    try {
      // A transaction of its own, so that one around it survives the attempt.
      return await this.client.transaction((tx) => insert(tx, config));
    } catch (error) {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
      await this.client.query(SQL.passUsedIds);
      return insert(this.client, config);
    }
  }

  async update(id: number, patch: Partial<Omit<PollingConfig, 'id'>>): Promise<PollingConfig | null> {
    const [row] = await this.client.query<ConfigRow>(SQL.update, [
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
    ]);
    return row === undefined ? null : toConfig(row);
  }

  async remove(id: number): Promise<PollingConfig | null> {
    const [row] = await this.client.query<ConfigRow>(SQL.remove, [id]);
    return row === undefined ? null : toConfig(row);
  }

  async concurrency(): Promise<Record<TaskType, number>> {
    const rows = await this.client.query<{ task_type: TaskType; max_concurrency: number }>(SQL.concurrency);
    const limits = new Map(rows.map((row) => [row.task_type, row.max_concurrency]));
    return perTaskType((taskType) => limits.get(taskType) ?? DEFAULT_MAX_CONCURRENCY);
  }

  async setConcurrency(taskType: TaskType, max: number): Promise<void> {
    await this.client.query(SQL.setConcurrency, [taskType, max]);
  }
}

async function insert(runner: SqlRunner, config: Omit<PollingConfig, 'id'>): Promise<PollingConfig> {
  const [row] = await runner.query<ConfigRow>(SQL.create, [
    config.name,
    config.taskType,
    config.cardCondition,
    config.carrierId,
    config.intervalSeconds,
    config.priority,
    config.status,
  ]);
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
