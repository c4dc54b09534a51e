// A live store in a real Redis with the time of the test: each script takes `now_ms()` from its last argument instead of
// the server's clock. What the server itself does with its clock (keys that expire) goes on by the machine's.
import { Redis } from 'ioredis';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import { type RedisArgument, RedisClient } from '../../src/store/redis/client/client.ts';
import type { ScriptName } from '../../src/store/redis/keys.ts';
import { redisLiveStore } from '../../src/store/redis/live-store.ts';

const DEADLINE_MS = 3_000;
const SERVER_TIME = "redis.call('TIME')";
const GIVEN_TIME = `local given_ms = tonumber(table.remove(ARGV))
local function given_time()
  return { math.floor(given_ms / 1000), given_ms % 1000 * 1000 }
end
`;

class TimedConnection extends Redis {
  override defineCommand(name: string, { lua }: { lua: string }): void {
    super.defineCommand(name, { lua: GIVEN_TIME + lua.replaceAll(SERVER_TIME, 'given_time()') });
  }
}

class TimedClient extends RedisClient {
  constructor(
    url: string,
    private readonly now: () => number,
  ) {
    super(new TimedConnection(url), url, DEADLINE_MS);
  }

  override command(name: string, ...args: RedisArgument[]): Promise<unknown> {
    if (name !== 'TIME') return super.command(name, ...args);
    const ms = this.now();
    return Promise.resolve([`${Math.floor(ms / 1_000)}`, `${(ms % 1_000) * 1_000}`]);
  }

  override script(name: ScriptName, keys: readonly string[], args: readonly RedisArgument[] = []) {
    return super.script(name, keys, [...args, this.now()]);
  }
}

/** @param now epoch milliseconds, whole */
export function openTimedRedisLiveStore(url: string, now: () => number): LiveStore {
  return redisLiveStore(new TimedClient(url, now));
}
