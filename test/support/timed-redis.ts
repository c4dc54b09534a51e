// A live store in a real Redis with the time of the test: every script and every command is sent with the time, and keys expire by it.
// Used by tests of clocks that step, and by the nights of test/world.
import { Redis, type RedisOptions } from 'ioredis';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import { type RedisArgument, RedisClient } from '../../src/store/redis/client/client.ts';
import { redisLiveStore } from '../../src/store/redis/live-store.ts';

const DEADLINE_MS = 3_000;

export interface GivenTime {
  /** Epoch milliseconds, whole. */
  now(): number;
  /** The run id of the server, hexadecimal; '': its own. */
  life(): string;
  /** Called after a script that has published. */
  published(channel: string): void;
}

/**
 * In front of every script. What the server does with its clock is done with the time that is given with the call: TIME, and keys that
 * expire. Such a key really expires thousands of years later, so that the server keeps or drops its time to live as always. Which are due
 * is looked up before each call. INFO is for the run id only. The reply comes with the channels of what the script has published.
 */
const GIVEN_TIME = `
local given_life, given_ms = table.remove(ARGV), tonumber(table.remove(ARGV))
local AWAY, EXPIRING = 4e15, 'given-time:expiring'
local server = redis
for _, key in ipairs(server.call('ZRANGEBYSCORE', EXPIRING, '-inf', given_ms)) do
  if server.call('PEXPIRETIME', key) > 0 then
    server.call('DEL', key)
  end
  server.call('ZREM', EXPIRING, key)
end
local published = {}
local instead = {
  PUBLISH = function(call, channel, message)
    published[#published + 1] = channel
    return call('PUBLISH', channel, message)
  end,
  TIME = function()
    return { string.format('%d', math.floor(given_ms / 1000)), string.format('%d', given_ms % 1000 * 1000) }
  end,
  INFO = function(call, ...)
    return given_life == '' and call('INFO', ...) or 'run_id:' .. given_life
  end,
  PTTL = function(call, key)
    local ends = call('PEXPIRETIME', key)
    return ends < 0 and ends or ends - AWAY - given_ms
  end,
  PEXPIRE = function(call, key, ms)
    local ends = given_ms + tonumber(ms)
    local is_set = call('PEXPIREAT', key, string.format('%.0f', AWAY + ends))
    if is_set == 1 then
      call('ZADD', EXPIRING, ends, key)
    end
    return is_set
  end,
  SET = function(call, key, ...)
    local options = { ... }
    for i = 2, #options do
      if options[i] == 'PX' then
        local ends = given_ms + tonumber(options[i + 1])
        options[i], options[i + 1] = 'PXAT', string.format('%.0f', AWAY + ends)
        call('ZADD', EXPIRING, ends, key)
      end
    end
    return call('SET', key, unpack(options))
  end,
}
local function timed(call)
  return function(command, ...)
    if instead[command] then
      return instead[command](call, ...)
    end
    return call(command, ...)
  end
end
local redis = setmetatable({ call = timed(server.call), pcall = timed(server.pcall) }, { __index = server })
local function script()
`;
const END = `
end
return { published, script() }
`;

type Method = (...args: RedisArgument[]) => Promise<unknown>;

export class TimedConnection extends Redis {
  constructor(
    options: RedisOptions,
    private readonly given: GivenTime,
  ) {
    super(options as object);
    this.defineCommand('oneCommand', { lua: 'return redis.call(unpack(ARGV))' });
  }

  override defineCommand(name: string, { lua }: { lua: string }): void {
    super.defineCommand(name, { lua: `${GIVEN_TIME}${lua}${END}` });
    const methods = this as unknown as Record<string, Method>;
    const method = methods[name] as Method;
    methods[name] = async (...args) => {
      const answer = method.call(this, ...args, this.given.now(), this.given.life());
      const [published, reply = null] = (await answer) as [string[], unknown];
      for (const channel of published) this.given.published(channel);
      return reply;
    };
  }

  override call(name: string, ...args: unknown[]): Promise<unknown> {
    const { oneCommand } = this as unknown as { oneCommand: Method };
    return oneCommand(0, name, ...(args as RedisArgument[]));
  }

  override async info(...sections: unknown[]): Promise<string> {
    const info = await super.info(...(sections as []));
    const life = this.given.life();
    return life === '' ? info : info.replace(/^run_id:\w+/m, `run_id:${life}`);
  }
}

/** @param now epoch milliseconds, whole */
export function openTimedRedisLiveStore(url: string, now: () => number): LiveStore {
  const { hostname: host, port } = new URL(url);
  const given = { now, life: () => '', published: () => {} };
  const connection = new TimedConnection({ host, port: Number(port) }, given);
  return redisLiveStore(new RedisClient(connection, url, DEADLINE_MS));
}
