// Port section of record-store.ts: polling configs and the configured concurrency limits.
import type { PollingConfig } from '../../../domain/schedule/polling-config.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface ConfigRecords {
  list(): Promise<PollingConfig[]>;
  create(config: Omit<PollingConfig, 'id'>): Promise<PollingConfig>;
  /** @returns the updated config, or null for an unknown id. */
  update(id: number, patch: Partial<Omit<PollingConfig, 'id'>>): Promise<PollingConfig | null>;
  /** @returns the removed config, or null for an unknown id. */
  remove(id: number): Promise<PollingConfig | null>;
  /** @returns the durable concurrency limits; the limits in force are in the live store. */
  concurrency(): Promise<Record<TaskType, number>>;
  setConcurrency(taskType: TaskType, max: number): Promise<void>;
}
