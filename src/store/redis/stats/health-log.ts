// Since when each problem has existed, in Redis: a hash with the time at which each began and until when it counts as
// existing. Redis' clock decides.
import type { HealthLog } from '../../ports/live/health-log.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

export class RedisHealthLog implements HealthLog {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async note(names: readonly string[], holdsMs: number): Promise<void> {
    await this.#noteAndRead(holdsMs, names);
  }

  since(): Promise<ReadonlyMap<string, number>> {
    return this.#noteAndRead(0, []);
  }

  async #noteAndRead(holdsMs: number, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { client, keys } = this;
    const flat = (await client.script('healthNote', [keys.health], [holdsMs, ...names])) as string[];
    const pairs = flat.flatMap((name, i) => (i % 2 === 0 ? [[name, Number(flat[i + 1])] as const] : []));
    return new Map(pairs);
  }
}
