// Fills and searches the manual list of a task type in Redis; claims and settlements (scripts work-*.lua) use it too.
// Every call is short, even for a long list.
import type { TaskType } from '../../../domain/task-type.ts';
import type { ManualList } from '../../ports/live/work-queue.ts';
import { inChunks, pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const ENTRIES_PER_CALL = 1_000;
const TRIGGERS_PER_CALL = 1_000;

export function redisManualList(client: RedisClient, keys: Keys): ManualList {
  async function removeSome(taskType: TaskType, triggerIds: readonly string[]): Promise<void> {
    const key = keys.manual(taskType);
    const length = (await client.command('LLEN', key)) as number;
    for (let seen = 0; seen < length; seen += ENTRIES_PER_CALL) {
      await client.script('workRemoveManual', [key], [ENTRIES_PER_CALL, ...triggerIds]);
    }
  }

  /** Reads from the tail to the head: claims at the head do not shift positions that are counted from the tail. */
  async function strikeWaiting(taskType: TaskType, missing: Set<string>): Promise<void> {
    const key = keys.manual(taskType);
    for (let end = -1; missing.size > 0; end -= ENTRIES_PER_CALL) {
      const page = (await client.command('LRANGE', key, end - ENTRIES_PER_CALL + 1, end)) as string[];
      for (const entry of page) missing.delete(entry);
      if (page.length < ENTRIES_PER_CALL) return;
    }
  }

  async function strikeRunning(taskType: TaskType, missing: Set<string>): Promise<void> {
    await inChunks([...missing], ENTRIES_PER_CALL, async (chunk) => {
      const reply = await client.command('ZMSCORE', keys.manualLeases(taskType), ...chunk);
      const leases = reply as (string | null)[];
      chunk.forEach((entry, i) => {
        if (leases[i] !== null) missing.delete(entry);
      });
    });
  }

  return {
    async push(taskType, entries) {
      await inChunks(entries, ENTRIES_PER_CALL, async (chunk) => {
        const args = [keys.workChannel(taskType), ...chunk];
        await client.script('workPushManual', [keys.manual(taskType)], args);
      });
    },

    remove: (taskType, triggerIds) =>
      inChunks(triggerIds, TRIGGERS_PER_CALL, (chunk) => removeSome(taskType, chunk)),

    async running(taskType) {
      const running = new Set<string>();
      let cursor = '0';
      do {
        const args = [keys.manualLeases(taskType), cursor, 'COUNT', ENTRIES_PER_CALL];
        const [next, pairs] = (await client.command('ZSCAN', ...args)) as [string, string[]];
        for (const entry of pairsOf(pairs).keys()) running.add(entry);
        cursor = next;
      } while (cursor !== '0');
      return [...running];
    },

    /**
     * Searches the list before the leases, because an entry that is claimed meanwhile moves from the list to the leases.
     */
    async missing(taskType, entries) {
      const missing = new Set(entries);
      await strikeWaiting(taskType, missing);
      await strikeRunning(taskType, missing);
      return [...missing];
    },
  };
}
