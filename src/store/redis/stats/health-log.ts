// Since when something is wrong, in Redis: a hash of names with when each began and until when it
// counts as going on. One clock, Redis' own.
import type { HealthLog } from '../../ports/live/health-log.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

export class RedisHealthLog implements HealthLog {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async note(names: readonly string[], holdsMs: number): Promise<void> {
    await this.#told(holdsMs, names);
  }

  since(): Promise<ReadonlyMap<string, number>> {
    return this.#told(0, []);
  }

  async #told(holdsMs: number, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { client, keys } = this;
    const flat = (await client.script('healthNote', [keys.health], [holdsMs, ...names])) as string[];
    const pairs = flat.flatMap((name, i) => (i % 2 === 0 ? [[name, Number(flat[i + 1])] as const] : []));
    return new Map(pairs);
  }
}
