// Finds out which rights the Redis user lacks (docs/security.md, "The Redis user"). Used by live-store.ts, for the
// doctor and at the start of a daemon. It tries the commands themselves, because ACL DRYRUN and ACL GETUSER are for
// administrators.
//
// Redis checks the rights of a user before the type of a key. So every command is sent to a key of a wrong type: a
// permitted command fails with WRONGTYPE and changes nothing.
import { randomBytes } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { messageOf } from '../../../platform/errors.ts';
import type { MissingRights } from '../../ports/live/live-store.ts';
import type { RedisArgument } from './client.ts';

const KEY_LIVES_MS = 10_000;
const ANSWER_TIMEOUT_MS = 3_000;
const KEYS = '~polling:*';
const CHANNELS = '&polling:*';

/** All but SET and PUBLISH. A test compares the names with those in the adapters and scripts of this folder. */
const COMMANDS = `
  EVAL return 1 key, EVALSHA ${'0'.repeat(40)} 1 key, TIME
  DEL key, EXISTS key, PEXPIRE key ${KEY_LIVES_MS}, PTTL key, UNLINK key, GET key, MGET key
  HDEL key f, HGET key f, HGETALL key, HINCRBY key f 1, HINCRBYFLOAT key f 1, HLEN key, HMGET key f
  HSET key f v, HSETNX key f v, HVALS key
  LLEN key, LPOP key, LPOS key v, LPUSH key v, LRANGE key 0 0, RPUSH key v
  SADD key 1, SCARD key, SMEMBERS key, SMISMEMBER key 1, SREM key 1, SUNIONSTORE key key
  ZADD key 1 m, ZCARD key, ZCOUNT key 0 0, ZMSCORE key m, ZPOPMIN key, ZRANGE key 0 0, ZRANGEBYSCORE key 0 0
  ZRANK key m, ZREM key m, ZREMRANGEBYSCORE key 0 0, ZREVRANGE key 0 0, ZREVRANGEBYSCORE key 0 0
  ZSCAN key 0, ZSCORE key m`;

/** @returns each command as its words. */
export function commandsOn(key: string): string[][] {
  const commands = COMMANDS.trim().split(/,\s*|\n\s*/);
  return commands.map((command) => command.split(' ').map((word) => (word === 'key' ? key : word)));
}

export async function findMissingRights(shared: Redis | Cluster): Promise<MissingRights> {
  const connection = another(shared);
  const rightFor = async (name: string, ...args: RedisArgument[]): Promise<string | null> =>
    rightIn(await refusal(connection.call(name, ...args)), name);
  try {
    const key = `polling:rights:${randomBytes(6).toString('hex')}`;
    const first = await rightFor('SET', key, '', 'PX', KEY_LIVES_MS);
    const needed = await Promise.all(commandsOn(key).map(([name = '', ...args]) => rightFor(name, ...args)));
    const useful = [
      await rightFor('PUBLISH', 'polling:rights', ''),
      // Last, because a connection that subscribes can run nothing else.
      rightIn(await refusal(connection.subscribe('polling:rights')), 'SUBSCRIBE'),
    ];
    return { user: userOf(shared), needed: distinct([first, ...needed]), useful: distinct(useful) };
  } finally {
    connection.disconnect();
  }
}

/** Opens a connection with a short timeout that does not reconnect after a refused command, as a replica's would. */
function another(shared: Redis | Cluster): Redis | Cluster {
  const connection =
    shared instanceof Cluster
      ? shared.duplicate()
      : shared.duplicate({ reconnectOnError: null, commandTimeout: ANSWER_TIMEOUT_MS });
  connection.on('error', () => {});
  return connection;
}

function userOf(connection: Redis | Cluster): string {
  const options = connection instanceof Cluster ? connection.options.redisOptions : connection.options;
  return options?.username ?? 'default';
}

/** @returns the ACL rule that is missing according to an error of Redis; null for an error that is not about rights. */
function rightIn(error: string, command: string): string | null {
  if (!error.startsWith('NOPERM')) return null;
  if (/\bchannels?\b/.test(error)) return CHANNELS;
  return /\bkeys?\b/.test(error) ? KEYS : `+${command.toLowerCase()}`;
}

async function refusal(reply: Promise<unknown>): Promise<string> {
  try {
    await reply;
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

function distinct(rights: ReadonlyArray<string | null>): string[] {
  return [...new Set(rights.filter((right) => right !== null))];
}
