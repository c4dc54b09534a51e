// Removes the buckets of abandoned generations. Used by rings.ts; the scripts ring-*.lua put generations into the
// trash.
import type { TaskType } from '../../../domain/task-type.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const KEYS_PER_UNLINK = 512;

export class RingTrash {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  /** Removes the buckets; the next call continues after a crash. */
  async empty(taskType: TaskType): Promise<void> {
    const trash = (await this.client.command('HGETALL', this.keys.ringTrash(taskType))) as string[];
    for (let i = 0; i < trash.length; i += 2) {
      const [configId = 0, generation = 0] = (trash[i] as string).split(':').map(Number);
      const end = Number(trash[i + 1]);
      for (let from = 0; from < end; from += KEYS_PER_UNLINK) {
        const count = Math.min(KEYS_PER_UNLINK, end - from);
        const names = Array.from({ length: count }, (_, b) =>
          this.keys.bucket({ configId, taskType }, generation, from + b),
        );
        await this.client.command('UNLINK', ...names);
      }
      await this.client.command('HDEL', this.keys.ringTrash(taskType), trash[i] as string);
    }
  }
}
