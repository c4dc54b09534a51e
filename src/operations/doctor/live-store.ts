// What the doctor looks at in the live store: its servers, its clock. Used by examine.ts.
import { type Finding, failed, ok, skipped, unknown, warning } from '../../domain/finding.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { LiveServer, LiveStore, MissingRights } from '../../store/ports/live/live-store.ts';
import { clockFinding } from './clock-skew.ts';
import { failure } from './finding.ts';

const RIGHTS = 'redis rights';
const POLICY = 'redis maxmemory-policy';
const REPLICATION = 'redis replication';
const HIDDEN = { hint: 'grant its user +info, or look at it as an administrator' };
const SAVE_HINT = 'make room on its disk, then save anew';
/** Lua scripts use commands of this version. */
const LEAST_VERSION = [6, 2];
/** What a fleet takes: rings (5.8 bytes a card and task at most), cache, queues at their fullest. */
const BYTES_A_CARD = 3 * 6 + 80;
const MEMORY_PERCENT = { warningAbove: 80, failedAbove: 95 };
const MIB = 1_048_576;

/**
 * Opening refuses a server that evicts or refuses work for want of a disk: that is a finding, and the others cannot be made.
 * @param redisCliWords `redis-cli` and how to get to the server
 */
export function liveStoreNotOpened(error: unknown, redisCliWords: string): Finding[] {
  const remedies: Readonly<Record<string, Finding>> = {
    redis_evicts: failed(POLICY, messageOf(error), {
      hint: 'and set it in redis.conf, for the next restart',
      command: `${redisCliWords} CONFIG SET maxmemory-policy noeviction`,
    }),
    redis_cannot_save: failed(REPLICATION, messageOf(error), {
      hint: SAVE_HINT,
      command: `${redisCliWords} BGSAVE`,
    }),
  };
  const known = error instanceof CardpollError ? remedies[error.code] : undefined;
  const rest = [RIGHTS, POLICY, 'redis version', 'redis memory', REPLICATION, 'redis clock'].map((check) =>
    check === known?.check ? known : skipped(check, 'see above'),
  );
  return [known === undefined ? failure('redis', error) : ok('redis', 'answers'), ...rest];
}

/** @param cards of the fleet; null: not known */
export async function liveStoreFindings(
  live: LiveStore,
  clock: Clock,
  cards: number | null,
): Promise<Finding[]> {
  const [servers, missing] = [await live.servers(), await live.missingRights()];
  const each = (judge: (server: LiveServer) => Finding) => worst(servers.map(judge));
  return [
    ok('redis', 'answers'),
    rightsFinding(missing, servers[0]?.address),
    each(policyFinding),
    each(versionFinding),
    each((server) => memoryFinding(server, cards === null ? null : cards / servers.length)),
    each(replicationFinding),
    await clockFinding('redis clock', () => live.now(), clock),
  ];
}

function rightsFinding({ user, needed, useful }: MissingRights, address: string | undefined): Finding {
  const missing = [...needed, ...useful];
  if (missing.length === 0) return ok(RIGHTS, 'its user may do what cardpoll does');
  const without =
    needed.length > 0 ? 'nothing is polled' : 'waiting workers hear of new work up to a second late';
  const judge = needed.length > 0 ? failed : warning;
  return judge(RIGHTS, `its user lacks ${missing.join(' ')}: without, ${without}`, {
    hint: 'grant them to the user in the Redis URL, on every server and in its ACL file (docs/security.md)',
    ...(address === undefined
      ? {}
      : {
          command: redisCli(address, `ACL SETUSER ${user} ${missing.map((right) => `'${right}'`).join(' ')}`),
        }),
  });
}

/** Of several servers the worst one is shown. */
function worst(findings: readonly Finding[]): Finding {
  const order: readonly Finding['status'][] = ['failed', 'unknown', 'warning', 'ok', 'skipped'];
  const [first] = [...findings].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return first ?? unknown('redis', 'no server takes writes');
}

/** Opening refuses a server that says that it evicts. */
function policyFinding({ address, version }: LiveServer): Finding {
  return version === null
    ? unknown(POLICY, `${address} does not tell it: what evicts would forget scheduled cards`, HIDDEN)
    : ok(POLICY, 'noeviction');
}

function versionFinding({ address, version }: LiveServer): Finding {
  const check = 'redis version';
  if (version === null) return unknown(check, `${address} does not tell its version`, HIDDEN);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST_VERSION;
  const old = major < leastMajor || (major === leastMajor && minor < leastMinor);
  return old
    ? failed(check, `${address} runs ${version}, which lacks commands that are used`, {
        hint: `update it to ${LEAST_VERSION.join('.')} or later`,
      })
    : ok(check, version);
}

function memoryFinding({ address, usedBytes, limitBytes }: LiveServer, cards: number | null): Finding {
  const check = 'redis memory';
  if (usedBytes === null || limitBytes === null || limitBytes === 0) {
    return unknown(check, `${address} does not tell its memory`, {
      command: redisCli(address, 'INFO memory'),
    });
  }
  const neededBytes = Math.max(usedBytes, BYTES_A_CARD * (cards ?? 0));
  const percent = (100 * neededBytes) / limitBytes;
  const fleet = cards === null ? '' : `; this fleet takes up to ${mib(BYTES_A_CARD * cards)}`;
  const detail = `${mib(usedBytes)} of ${mib(limitBytes)} are used${fleet}`;
  if (percent <= MEMORY_PERCENT.warningAbove) return ok(check, detail);
  const command = redisCli(address, `CONFIG SET maxmemory ${Math.ceil((2 * neededBytes) / MIB)}mb`);
  const remedy = { hint: 'a full Redis refuses writes: polling stands still then; give it more', command };
  const judge = percent > MEMORY_PERCENT.failedAbove ? failed : warning;
  return judge(check, `${address}: ${detail}`, remedy);
}

function replicationFinding(server: LiveServer): Finding {
  const check = REPLICATION;
  const { address, writable, replicas, replicasInStep, persistent, savesFail } = server;
  if (writable === null || replicas === null)
    return unknown(check, `${address} does not tell its role`, HIDDEN);
  if (!writable) {
    return failed(check, `${address} is a replica and takes no writes`, {
      hint: 'point redis_url to the master, or make this one the master',
      command: redisCli(address, 'REPLICAOF NO ONE'),
    });
  }
  if (savesFail) {
    return failed(check, `${address} could not write to its disk, and refuses writes by default then`, {
      hint: SAVE_HINT,
      command: redisCli(address, 'BGSAVE'),
    });
  }
  if (replicasInStep < replicas) {
    const behind = `${replicas - replicasInStep} of ${replicas} replicas of ${address} are not in step`;
    return warning(check, `${behind}: what they lack is lost if one becomes the master`, {
      hint: 'they load, or cannot keep up; the state of each shows',
      command: redisCli(address, 'INFO replication'),
    });
  }
  const kept = persistent === true ? 'writes are kept in a file' : 'not kept in a file';
  return ok(check, `${replicas} replicas, ${kept}; what is lost is built anew from the cards`);
}

function redisCli(address: string, words: string): string {
  const at = address.lastIndexOf(':');
  return `redis-cli -h ${address.slice(0, at)} -p ${address.slice(at + 1)} ${words}`;
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / MIB).toLocaleString('en-US')} MiB`;
}
