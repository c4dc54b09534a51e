// The checks of the live store: its servers and its clock. Used by examine.ts.

import { type Finding, failed, ok, skipped, unknown, warning } from '../../domain/finding.ts';
import { grouped } from '../../domain/words.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { LiveServer, LiveStore, MissingRights } from '../../store/ports/live/live-store.ts';
import { clockFinding, failure } from './finding.ts';

const RIGHTS = 'redis rights';
const POLICY = 'redis maxmemory-policy';
const LOAD = 'redis load';
const REPLICATION = 'redis replication';
const HIDDEN = { hint: 'grant its user +info, or check it as an administrator' };
const NO_SERVER = 'no server accepts writes';
const SAVE_HINT = 'free space on its disk, then save again';
/** The Lua scripts use commands of this Redis version. */
const LEAST_VERSION = '6.2';
/** Memory of a fleet: rings (at most 5.8 bytes per card and task), and cache with full queues. */
const RING_BYTES_A_CARD = 3 * 6;
const CACHE_BYTES_A_CARD = 80;
const MEMORY_PERCENT = { warningAbove: 80, failedAbove: 95 };
/** Bursts of the schedule need the rest of the thread's time. */
const BUSY_PERCENT = 70;
/** Length of the load measurement. */
const LOAD_MS = 1_000;
const MIB = 1_048_576;

/**
 * Opening refuses a server that evicts keys or cannot write to its disk: that becomes a finding, and the other checks are
 * skipped.
 * @param redisCliWords `redis-cli` with the options that connect to the server
 */
export function liveStoreNotOpened(error: unknown, redisCliWords: string): Finding[] {
  const remedies: Readonly<Record<string, Finding>> = {
    redis_evicts: failed(POLICY, messageOf(error), {
      hint: 'set it now, and in redis.conf for the next restart',
      command: `${redisCliWords} CONFIG SET maxmemory-policy noeviction`,
    }),
    redis_cannot_save: failed(REPLICATION, messageOf(error), {
      hint: SAVE_HINT,
      command: `${redisCliWords} BGSAVE`,
    }),
  };
  const known = error instanceof CardpollError ? remedies[error.code] : undefined;
  const rest = [RIGHTS, POLICY, 'redis version', 'redis memory', LOAD, REPLICATION, 'redis clock'].map(
    (check) => (check === known?.check ? known : skipped(check, 'see above')),
  );
  return [known === undefined ? failure('redis', error) : ok('redis', 'answers'), ...rest];
}

/** @param cards number of cards in the fleet; null: unknown */
export async function liveStoreFindings(
  live: LiveStore,
  clock: Clock,
  cards: number | null,
): Promise<Finding[]> {
  const [before, sinceMs] = [await live.servers(), clock.monotonic()];
  const missing = await live.missingRights();
  await clock.sleep(LOAD_MS);
  const [servers, seconds] = [await live.servers(), (clock.monotonic() - sinceMs) / 1_000];
  const neededBytes = cards === null ? null : cards * bytesACardOn(servers.length);
  const each = (judge: (server: LiveServer) => Finding) => worst(servers.map(judge));
  return [
    ok('redis', 'answers'),
    rightsFinding(missing, servers[0]?.address),
    each(policyFinding),
    each(versionFinding),
    worst(fullestFirst(servers, neededBytes).map((server) => memoryFinding(server, neededBytes))),
    loadFinding(before, servers, seconds),
    each(replicationFinding),
    await clockFinding('redis clock', () => live.now(), clock),
  ];
}

/**
 * Memory for each card on one of several servers: the rings of all task types may be on it (docs/scaling.md), the cache is
 * spread.
 */
export function bytesACardOn(servers: number): number {
  return RING_BYTES_A_CARD + CACHE_BYTES_A_CARD / Math.max(1, servers);
}

/** Whether a server of this size is too full with this many bytes, by the rule of `redis memory`. */
export function isTooFull(bytes: number, limitBytes: number): boolean {
  return (100 * bytes) / limitBytes > MEMORY_PERCENT.warningAbove;
}

function rightsFinding({ user, needed, useful }: MissingRights, address: string | undefined): Finding {
  const missing = [...needed, ...useful];
  if (missing.length === 0) return ok(RIGHTS, 'its user has all rights that cardpoll needs');
  const effect =
    needed.length > 0 ? 'nothing is polled' : 'waiting workers notice new work up to a second late';
  const judge = needed.length > 0 ? failed : warning;
  const grant = `ACL SETUSER ${user} ${missing.map((right) => `'${right}'`).join(' ')}`;
  return judge(RIGHTS, `its user lacks ${missing.join(' ')}, so ${effect}`, {
    hint: 'grant them to the user in the Redis URL, on every server and in its ACL file (docs/security.md)',
    command: address === undefined ? null : redisCli(address, grant),
  });
}

function fullestFirst(servers: readonly LiveServer[], neededBytes: number | null): LiveServer[] {
  const share = ({ usedBytes, limitBytes }: LiveServer) =>
    Math.max(usedBytes ?? 0, neededBytes ?? 0) / (limitBytes || Infinity);
  return [...servers].sort((a, b) => share(b) - share(a));
}

/** For several servers the worst finding is shown, the first of equal ones. */
function worst(findings: readonly Finding[]): Finding {
  const order: readonly Finding['status'][] = ['failed', 'unknown', 'warning', 'ok', 'skipped'];
  const [first] = [...findings].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return first ?? unknown('redis', NO_SERVER);
}

/** Only `ok` or `unknown`: opening refuses a server that reports that it evicts keys. */
function policyFinding({ address, software }: LiveServer): Finding {
  return software === null
    ? unknown(
        POLICY,
        `${address} does not report it; a Redis that evicts keys would lose scheduled cards`,
        HIDDEN,
      )
    : ok(POLICY, 'noeviction');
}

function versionFinding({ address, software, redisVersion }: LiveServer): Finding {
  const check = 'redis version';
  if (software === null) return unknown(check, `${address} does not report its version`, HIDDEN);
  const isOld =
    redisVersion !== null && redisVersion.localeCompare(LEAST_VERSION, 'en', { numeric: true }) < 0;
  return isOld
    ? failed(check, `${address} lacks commands that cardpoll needs: ${software}`, {
        hint: `replace it with Valkey, or with Redis ${LEAST_VERSION} or later`,
      })
    : ok(check, software);
}

function memoryFinding({ address, usedBytes, limitBytes }: LiveServer, neededBytes: number | null): Finding {
  const check = 'redis memory';
  if (usedBytes === null || limitBytes === null || limitBytes === 0) {
    return unknown(check, `${address} does not report its memory`, {
      command: redisCli(address, 'INFO memory'),
    });
  }
  const most = Math.max(usedBytes, neededBytes ?? 0);
  const percent = (100 * most) / limitBytes;
  const fleet = neededBytes === null ? '' : `; this fleet needs up to ${mib(neededBytes)}`;
  const detail = `${address}: ${mib(usedBytes)} of ${mib(limitBytes)} used${fleet}`;
  if (!isTooFull(most, limitBytes)) return ok(check, detail);
  const command = redisCli(address, `CONFIG SET maxmemory ${Math.ceil((2 * most) / MIB)}mb`);
  const remedy = { hint: 'a full Redis refuses writes, and polling stops; give it more memory', command };
  const judge = percent > MEMORY_PERCENT.failedAbove ? failed : warning;
  return judge(check, detail, remedy);
}

/** Judges the busiest server. Redis runs all commands on one thread, which is full long before its machine is. */
function loadFinding(
  before: readonly LiveServer[],
  servers: readonly LiveServer[],
  seconds: number,
): Finding {
  const loads = servers.map(({ address, threadSeconds }) => {
    const earlier = before.find((one) => one.address === address)?.threadSeconds ?? null;
    const isKnown = threadSeconds !== null && earlier !== null && threadSeconds >= earlier;
    return {
      address,
      percent: isKnown ? Math.min(100, Math.round((100 * (threadSeconds - earlier)) / seconds)) : Infinity,
    };
  });
  const [busiest] = loads.sort((a, b) => b.percent - a.percent);
  if (busiest === undefined) return unknown(LOAD, NO_SERVER);
  const { address, percent } = busiest;
  if (percent === Infinity) {
    return unknown(LOAD, `${address} does not report its CPU time`, {
      command: redisCli(address, 'INFO cpu'),
    });
  }
  const detail = `its thread is ${percent} % busy`;
  if (percent < 1) return ok(LOAD, detail);
  // A measurement of one second is inexact for a small share.
  const times = percent < 10 ? 'more than 10' : `about ${(100 / percent).toFixed(1)}`;
  const full = `${detail}, full at ${times} times this load`;
  if (percent <= BUSY_PERCENT) return ok(LOAD, full);
  return warning(LOAD, `${address}: ${full}`, {
    hint: 'a full Redis delays every poll; poll less often, or use a Redis Cluster (docs/scaling.md)',
    command: redisCli(address, 'INFO commandstats'),
  });
}

function replicationFinding(server: LiveServer): Finding {
  const check = REPLICATION;
  const { address, writable, replicas, replicasInStep, persistent, savesFail } = server;
  if (writable === null || replicas === null)
    return unknown(check, `${address} does not report its role`, HIDDEN);
  if (!writable) {
    return failed(check, `${address} is a replica and accepts no writes`, {
      hint: 'point redis_url to the master, or promote this server',
      command: redisCli(address, 'REPLICAOF NO ONE'),
    });
  }
  if (savesFail) {
    return failed(check, `${address} could not write to its disk, and refuses writes by default`, {
      hint: SAVE_HINT,
      command: redisCli(address, 'BGSAVE'),
    });
  }
  if (replicasInStep < replicas) {
    const behind = `${replicas - replicasInStep} of ${replicas} replicas of ${address} are behind`;
    return warning(check, `${behind}: the writes they lack are lost if one becomes the master`, {
      hint: 'they are loading or cannot keep up; to see the state of each',
      command: redisCli(address, 'INFO replication'),
    });
  }
  const kept = persistent === true ? 'persistence is on' : 'persistence is off';
  return ok(check, `${replicas} replicas, ${kept}; lost state is rebuilt from the cards`);
}

function redisCli(address: string, words: string): string {
  const at = address.lastIndexOf(':');
  return `redis-cli -h ${address.slice(0, at)} -p ${address.slice(at + 1)} ${words}`;
}

function mib(bytes: number): string {
  return `${grouped(Math.ceil(bytes / MIB))} MiB`;
}
