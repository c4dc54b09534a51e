// Finds the real servers the tests run against, and installs what is missing with apt-get, saying so on stderr.
// It starts nothing and stops nothing: a service that a Debian package starts on its own is left alone and never used.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Places {
  /** As in the environment variable. */
  readonly path: string;
  /** Where Debian keeps one directory a PostgreSQL version. */
  readonly postgresRoot: string;
}

export interface Servers {
  readonly redisServer: string;
  /** The directory of `postgres` and `initdb`. */
  readonly postgresBin: string;
}

const DEFAULT_PLACES: Places = { path: process.env.PATH ?? '', postgresRoot: '/usr/lib/postgresql' };

/** Finds both servers; installs the packages of those that are missing. Throws an error naming what to install. */
export function provision(places: Places = DEFAULT_PLACES): Servers {
  const missing = [
    findRedisServer(places) === null ? 'redis-server' : null,
    findPostgresBin(places) === null ? 'postgresql' : null,
  ].filter((name) => name !== null);
  if (missing.length > 0) install(missing, places);
  return { redisServer: redisServerPath(places), postgresBin: postgresBinPath(places) };
}

/** The path of `redis-server`. Throws an error naming the package when it is not installed. */
export function redisServerPath(places: Places = DEFAULT_PLACES): string {
  return findRedisServer(places) ?? fail(['redis-server'], 'redis-server is not on PATH');
}

/** The directory of PostgreSQL's binaries, the newest version. Throws an error naming the package. */
export function postgresBinPath(places: Places = DEFAULT_PLACES): string {
  return (
    findPostgresBin(places) ??
    fail(['postgresql'], `postgres and initdb are neither on PATH nor in ${places.postgresRoot}/*/bin`)
  );
}

/** The path of a further program a test runs (`logrotate`); installs its package when it is missing. */
export function programPath(
  name: string,
  { places = DEFAULT_PLACES, debianPackage = name }: { places?: Places; debianPackage?: string } = {},
): string {
  const find = () => [...directories(places.path), '/usr/sbin'].find((dir) => isExecutable(join(dir, name)));
  if (find() === undefined) install([debianPackage], places);
  const directory = find() ?? fail([debianPackage], `${name} is neither on PATH nor in /usr/sbin`);
  return join(directory, name);
}

function findRedisServer({ path }: Places): string | null {
  const directory = directories(path).find((dir) => isExecutable(join(dir, 'redis-server')));
  return directory === undefined ? null : join(directory, 'redis-server');
}

function findPostgresBin({ path, postgresRoot }: Places): string | null {
  const candidates = [...directories(path), ...versionDirectories(postgresRoot)];
  const complete = (dir: string) => isExecutable(join(dir, 'postgres')) && isExecutable(join(dir, 'initdb'));
  return candidates.find(complete) ?? null;
}

function versionDirectories(postgresRoot: string): string[] {
  try {
    const versions = readdirSync(postgresRoot).filter((name) => /^\d+(\.\d+)?$/.test(name));
    return versions.sort((a, b) => Number(b) - Number(a)).map((name) => join(postgresRoot, name, 'bin'));
  } catch {
    return [];
  }
}

function directories(path: string): string[] {
  return path.split(delimiter).filter((dir) => dir !== '');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install(packages: readonly string[], places: Places): void {
  process.stderr.write(`tests need ${packages.join(' and ')}: installing with apt-get\n`);
  aptGet(['update', '-q'], packages, places);
  aptGet(['install', '-q', '-y', '--no-install-recommends', ...packages], packages, places);
}

function aptGet(args: readonly string[], packages: readonly string[], { path }: Places): void {
  const root = process.getuid?.() === 0;
  // RUNLEVEL=1 asks Debian's maintainer scripts not to start the new service; where they do so anyway it is not used.
  const command = ['env', 'RUNLEVEL=1', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  const [program, ...rest] = [
    ...(root ? [] : ['sudo', '-n']),
    ...command,
    '-o',
    'DPkg::Lock::Timeout=120',
    ...args,
  ];
  const result = spawnSync(program ?? 'env', rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
    timeout: 10 * 60_000,
  });
  if (result.status === 0) return;
  const why = result.error?.message ?? `${result.stderr}`.trim().split('\n').slice(-3).join('; ');
  fail(packages, `apt-get ${args[0]} failed: ${why || `exit status ${result.status}`}`);
}

function fail(packages: readonly string[], why: string): never {
  throw new Error(
    `the tests need real servers and cannot run without them: ${why}. ` +
      `Install by hand: sudo apt-get install ${packages.join(' ')}`,
  );
}
