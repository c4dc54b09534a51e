// Port section of live-store.ts: the manual list of a task type, as those who fill it see it: operations and the leader's trigger
// feeder. What workers claim from it and give back is the work queue's.
import type { TaskType } from '../../../domain/task-type.ts';

/** Entries are `<card_id>` or `<card_id>:<trigger_id>`. */
export interface ManualList {
  /** Appends entries. Not idempotent by itself: callers own the trigger. */
  push(taskType: TaskType, entries: readonly string[]): Promise<void>;

  /**
   * Takes the waiting entries of a trigger out, in short steps; what runs goes on. Entries that keep their place may
   * change their order a little. @returns how many were taken out.
   */
  remove(taskType: TaskType, triggerId: string): Promise<number>;

  /** Entries that are claimed and not settled yet. */
  running(taskType: TaskType): Promise<readonly string[]>;

  /** Which of these entries neither wait nor run. May name one that was returned just now. */
  missing(taskType: TaskType, entries: readonly string[]): Promise<readonly string[]>;
}
