// Port section of record-store.ts: polling configs, and the limits as configured.
import type { PollingConfig } from '../../../domain/schedule/polling-config.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface ConfigRecords {
  list(): Promise<PollingConfig[]>;
  create(config: Omit<PollingConfig, 'id'>): Promise<PollingConfig>;
  /** @returns the updated config, or null for an unknown id. */
  update(id: number, patch: Partial<Omit<PollingConfig, 'id'>>): Promise<PollingConfig | null>;
  /** @returns the config as it was, or null for an unknown id. */
  remove(id: number): Promise<PollingConfig | null>;
  /** Durable concurrency limits (the live store holds the ones in force). */
  concurrency(): Promise<Record<TaskType, number>>;
  setConcurrency(taskType: TaskType, max: number): Promise<void>;
}
