// Port section of live-store.ts: filling and searching the manual list of a task type. Used by the operations and by
// the leader's trigger feeder. Workers claim its entries through the work queue.
import type { TaskType } from '../../../domain/task-type.ts';

/** The manual list; its entries are `<card_id>` or `<card_id>:<trigger_id>`. */
export interface ManualList {
  /** Appends entries. Not idempotent: the caller makes sure that a repeated entry is counted once. */
  push(taskType: TaskType, entries: readonly string[]): Promise<void>;

  /**
   * Removes the waiting entries of triggers, in short steps; running entries continue. The order of the other entries
   * may change slightly. @returns the number of removed entries.
   */
  remove(taskType: TaskType, triggerIds: readonly string[]): Promise<number>;

  /** @returns the entries that are claimed and not settled yet. */
  running(taskType: TaskType): Promise<readonly string[]>;

  /** @returns the given entries that neither wait nor run. May include an entry that is being returned right now. */
  missing(taskType: TaskType, entries: readonly string[]): Promise<readonly string[]>;
}
