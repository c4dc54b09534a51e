// Fills and searches the manual list of a task type in Redis; claims and settlements (scripts work-*.lua) use it too.
// Every call is short, even for a long list.
import type { TaskType } from '../../../domain/task-type.ts';
import type { ManualList } from '../../ports/live/work-queue.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const ENTRIES_PER_CALL = 1_000;
const TRIGGERS_PER_CALL = 1_000;

export class RedisManualList implements ManualList {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async push(taskType: TaskType, entries: readonly string[]): Promise<void> {
    for (let from = 0; from < entries.length; from += ENTRIES_PER_CALL) {
      const chunk = entries.slice(from, from + ENTRIES_PER_CALL);
      const channel = this.keys.workChannel(taskType);
      await this.client.script('workPushManual', [this.keys.manual(taskType)], [channel, ...chunk]);
    }
  }

  async remove(taskType: TaskType, triggerIds: readonly string[]): Promise<number> {
    let removed = 0;
    for (let from = 0; from < triggerIds.length; from += TRIGGERS_PER_CALL) {
      removed += await this.#removeSome(taskType, triggerIds.slice(from, from + TRIGGERS_PER_CALL));
    }
    return removed;
  }

  async #removeSome(taskType: TaskType, triggerIds: readonly string[]): Promise<number> {
    const key = this.keys.manual(taskType);
    const length = (await this.client.command('LLEN', key)) as number;
    const args = [ENTRIES_PER_CALL, ...triggerIds];
    let removed = 0;
    for (let seen = 0; seen < length; seen += ENTRIES_PER_CALL) {
      removed += (await this.client.script('workRemoveManual', [key], args)) as number;
    }
    return removed;
  }

  async running(taskType: TaskType): Promise<string[]> {
    const running = new Set<string>();
    let cursor = '0';
    do {
      const args = [this.keys.manualLeases(taskType), cursor, 'COUNT', ENTRIES_PER_CALL];
      const [next, pairs] = (await this.client.command('ZSCAN', ...args)) as [string, string[]];
      for (let i = 0; i < pairs.length; i += 2) running.add(pairs[i] as string);
      cursor = next;
    } while (cursor !== '0');
    return [...running];
  }

  /**
   * Searches the list before the leases, because an entry that is claimed meanwhile moves from the list to the leases.
   */
  async missing(taskType: TaskType, entries: readonly string[]): Promise<string[]> {
    const missing = new Set(entries);
    await this.#strikeWaiting(taskType, missing);
    await this.#strikeRunning(taskType, missing);
    return [...missing];
  }

  /** Reads from the tail to the head: claims at the head do not shift positions that are counted from the tail. */
  async #strikeWaiting(taskType: TaskType, missing: Set<string>): Promise<void> {
    const key = this.keys.manual(taskType);
    for (let end = -1; missing.size > 0; end -= ENTRIES_PER_CALL) {
      const page = (await this.client.command('LRANGE', key, end - ENTRIES_PER_CALL + 1, end)) as string[];
      for (const entry of page) missing.delete(entry);
      if (page.length < ENTRIES_PER_CALL) return;
    }
  }

  async #strikeRunning(taskType: TaskType, missing: Set<string>): Promise<void> {
    const key = this.keys.manualLeases(taskType);
    const entries = [...missing];
    for (let from = 0; from < entries.length; from += ENTRIES_PER_CALL) {
      const chunk = entries.slice(from, from + ENTRIES_PER_CALL);
      const leases = (await this.client.command('ZMSCORE', key, ...chunk)) as (string | null)[];
      chunk.forEach((entry, i) => {
        if (leases[i] !== null) missing.delete(entry);
      });
    }
  }
}
