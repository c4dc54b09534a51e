// `npm run prove`: lives through seeds, on all cores, and prints a line for each, the story of each failure, and a table. Ends with 1 if
// anything failed, 64 for arguments it does not take.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { FAULTS, OWN_FAULTS } from './faults.ts';
import { INVARIANTS } from './invariants.ts';
import { NightRedis } from './live/redis.ts';
import { live, type Night, nightThatEnded, type Verdict } from './night.ts';
import { type ProveOptions, readOptions } from './options.ts';
import { makeDatabase } from './records.ts';
import { invariantOf, shrink } from './shrink.ts';
import { storyOf } from './story.ts';
import { tableOf } from './table.ts';
import { reality, takeGlobals } from './virtual/globals.ts';

interface Deps {
  readonly root: string;
  readonly outfile: string;
}

/** A database of WebAssembly gives no memory back: a process lives through so many nights. */
const NIGHTS_OF_A_PROCESS = 10;
/** Argument of a process that lives nights: its standard input is a socket to a Redis of its own. */
const ON_REDIS = 'redis';
/** In the server's folder. It takes less time than a port. */
const SOCKET = 'redis.sock';
/** The order of what is in a hash table is drawn when a server starts; lists have the order in which they were written. */
const ORDERLY = [
  ...['--unixsocket', SOCKET],
  ...['--hash-max-listpack-entries', '100000', '--hash-max-listpack-value', '100000'],
  ...['--set-max-intset-entries', '100000'],
];
const SHRINK_MS = 60_000;
/** A night that is slower than reality stands still: its process is ended, and the night has failed. */
const SPARE_MS = 300_000;

export async function run(args: string[], means: Deps): Promise<number> {
  if (process.send !== undefined && args[0] === 'nights') return liveNights(args, means);
  const options = readOptions(args, { seeds: 100, minutes: 30, instances: 3, cards: 300 }, [
    'embedded',
    'redis',
  ]);
  if (typeof options === 'string') {
    process.stderr.write(`prove: ${options}\n`);
    return 64;
  }
  const verdicts: Verdict[] = [];
  const stopped = new AbortController();
  process.on('SIGINT', () => stopped.abort());
  process.on('SIGTERM', () => stopped.abort());
  const { first } = options;
  const hashes = new Map<number, string>();
  await writeFile(databaseOf(means), Buffer.from(await (await makeDatabase(means.root)).arrayBuffer()));
  await proveAll(options, means, stopped.signal, (told) => {
    const verdict = asBefore(told, hashes);
    verdicts.push(verdict);
    const broken = invariantOf(verdict);
    const speed = Math.round(verdict.virtualMs / verdict.realMs);
    print([
      `seed ${verdict.night.seed}  ${verdict.hash}  ${speed} times real  ${broken === null ? 'ok' : `FAILED ${broken}`}`,
    ]);
    if (broken !== null) print(storyOf(verdict));
    if (broken !== null && first) stopped.abort();
  });
  await rm(databaseOf(means));
  print(tableOf(verdicts, [...FAULTS, ...OWN_FAULTS], INVARIANTS));
  if (verdicts.some(({ failures }) => failures.length > 0)) return 1;
  if (hashes.size === options.seeds) return 0;
  print(['stopped before the end']);
  return 130;
}

/** @returns the verdict, which is a failure where the same seed was another night before. */
function asBefore(verdict: Verdict, hashes: Map<number, string>): Verdict {
  const { night, hash, failures } = verdict;
  const before = hashes.get(night.seed) ?? hash;
  hashes.set(night.seed, hash);
  return before === hash || failures.length > 0
    ? verdict
    : { ...verdict, failures: [`the same seed is the same night: it was ${before}, and is ${hash}`] };
}

/** The migrated database that every world begins with. */
function databaseOf({ outfile }: Deps): string {
  return `${outfile}.tar`;
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function proveAll(
  { seeds, from, first, ...size }: ProveOptions,
  means: Deps,
  stopped: AbortSignal,
  tell: (verdict: Verdict) => void,
): Promise<void> {
  const waiting: Night[] = Array.from({ length: seeds }, (_, i) => ({ seed: from + i, ...size }));
  // The first one is lived twice, by another process where there are two.
  if (size.faults === null && !first) waiting.unshift({ seed: from, ...size });
  const liveAll = async (redis: RedisServer | null) => {
    while (waiting.length > 0 && !stopped.aborted) {
      const socket = redis === null ? 'inherit' : await connected(redis);
      const child = fork(`${means.root}test/world/run.js`, ['prove', 'nights', size.store], {
        env: { ...process.env, CARDPOLL_WORLD: means.outfile },
        stdio: [socket, 'inherit', 'inherit', 'ipc'],
      });
      if (socket !== 'inherit') socket.destroy();
      const end = () => child.kill();
      stopped.addEventListener('abort', end);
      for (let left = NIGHTS_OF_A_PROCESS; left > 0 && !stopped.aborted; left -= 1) {
        const night = waiting.shift();
        if (night === undefined) break;
        const answer = await ask(child, night, first);
        if (typeof answer !== 'string') tell(answer);
        else if (!stopped.aborted) tell(nightThatEnded(night, answer));
        if (typeof answer === 'string') break;
      }
      stopped.removeEventListener('abort', end);
      end();
    }
  };
  const lane = async () => {
    const redis = size.store === 'redis' ? await startRedis({ args: ORDERLY }) : null;
    await liveAll(redis).finally(() => redis?.stop());
  };
  await Promise.all(Array.from({ length: Math.min(waiting.length, availableParallelism()) }, lane));
}

async function connected({ dir }: RedisServer): Promise<Socket> {
  const socket = connect(`${dir}/${SOCKET}`);
  await once(socket, 'connect');
  return socket;
}

/** @returns how the process ended, where it ended without a verdict. */
function ask(child: ChildProcess, night: Night, first: boolean): Promise<Verdict | string> {
  return new Promise((resolve) => {
    const stuck = setTimeout(() => child.kill(), night.minutes * 60_000 + SPARE_MS);
    const ended = (code: number | null, signal: string | null) => {
      clearTimeout(stuck);
      resolve(`${signal ?? `code ${code}`}`);
    };
    child.once('exit', ended);
    child.once('message', (verdict) => {
      clearTimeout(stuck);
      child.off('exit', ended);
      resolve(verdict as Verdict);
    });
    child.send({ night, first });
  });
}

/** In a process of its own: its clock and its chance are the worlds'. */
async function liveNights(args: readonly string[], means: Deps): Promise<number> {
  const database = new Blob([await readFile(databaseOf(means))]);
  const redis = args.includes(ON_REDIS) ? await NightRedis.open() : null;
  const ground = { database, redis };
  takeGlobals();
  // Ctrl-C reaches the children too; the parent ends them.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.kill(process.pid));
  process.on('message', ({ night, first }: { night: Night; first: boolean }) => {
    void (async () => {
      const verdict = await live(night, ground);
      const until = reality.now() + SHRINK_MS;
      const isWanted = verdict.failures.length > 0 && night.faults === null && !first;
      const told = isWanted
        ? (
            await shrink(
              verdict,
              (smaller) => live(smaller, ground),
              () => reality.now() > until,
            )
          ).verdict
        : verdict;
      process.send?.(told);
    })();
  });
  return new Promise(() => {});
}
