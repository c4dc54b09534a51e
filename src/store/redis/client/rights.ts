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

/** Arguments after the key. A test compares the command names with those in the adapters and scripts of this folder. */
export const COMMANDS_OF_A_KEY: Readonly<Record<string, readonly RedisArgument[]>> = {
  DEL: [],
  EXISTS: [],
  GET: [],
  HDEL: ['f'],
  HGET: ['f'],
  HGETALL: [],
  HINCRBY: ['f', 1],
  HINCRBYFLOAT: ['f', 1],
  HLEN: [],
  HMGET: ['f'],
  HSET: ['f', 'v'],
  HSETNX: ['f', 'v'],
  HVALS: [],
  LLEN: [],
  LPOP: [],
  LPOS: ['v'],
  LPUSH: ['v'],
  LRANGE: [0, 0],
  PEXPIRE: [KEY_LIVES_MS],
  PTTL: [],
  RPUSH: ['v'],
  SADD: [1],
  SCARD: [],
  SMEMBERS: [],
  SMISMEMBER: [1],
  SREM: [1],
  UNLINK: [],
  ZADD: [1, 'm'],
  ZCARD: [],
  ZCOUNT: [0, 0],
  ZMSCORE: ['m'],
  ZPOPMIN: [],
  ZRANGE: [0, 0],
  ZRANGEBYSCORE: [0, 0],
  ZRANK: ['m'],
  ZREM: ['m'],
  ZREMRANGEBYSCORE: [0, 0],
  ZREVRANGE: [0, 0],
  ZREVRANGEBYSCORE: [0, 0],
  ZSCAN: [0],
  ZSCORE: ['m'],
};

/** Commands without a key, or whose first argument is not a key. */
export const OTHER_COMMANDS = (key: string): ReadonlyArray<readonly [string, ...RedisArgument[]]> => [
  ['SUNIONSTORE', key, key],
  ['EVAL', 'return 1', 1, key],
  ['EVALSHA', '0'.repeat(40), 1, key],
  ['TIME'],
];

export async function missingRightsOf(shared: Redis | Cluster): Promise<MissingRights> {
  const connection = another(shared);
  const rightFor = async (name: string, ...args: RedisArgument[]): Promise<string | null> =>
    rightIn(await refusal(connection.call(name, ...args)), name);
  try {
    const key = `polling:rights:${randomBytes(6).toString('hex')}`;
    const first = await rightFor('SET', key, '', 'PX', KEY_LIVES_MS);
    const needed = await Promise.all([
      ...OTHER_COMMANDS(key).map((command) => rightFor(...command)),
      ...Object.entries(COMMANDS_OF_A_KEY).map(([name, args]) => rightFor(name, key, ...args)),
    ]);
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

/** Opens a connection that does not reconnect when a command is refused, as by a replica, and has a short timeout. */
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
