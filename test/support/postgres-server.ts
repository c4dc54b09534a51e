// A throwaway real PostgreSQL on 127.0.0.1: a new cluster in a temporary directory, a free port, its socket in that
// directory. Making one takes 1-2 s, so one is shared by a run (global-setup.ts) and a test file makes itself a new
// database (freshDatabase in fresh-stores.ts); tests that stop or freeze PostgreSQL start their own.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ServerTls } from './certificates.ts';
import { freePort } from './free-port.ts';
import type { Owner } from './owned-process.ts';
import { postgresBinPath } from './provision.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const run = promisify(execFile);

export class PostgresServer extends ServerProcess {
  constructor(
    readonly port: number,
    readonly dir: string,
    owner: Owner | undefined,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    super({
      name: `postgres on port ${port}`,
      // Not for the process that becomes another user before: libfaketime would bind to it.
      command: '/usr/bin/env',
      args: [
        ...Object.entries(env).map((entry) => entry.join('=')),
        join(postgresBinPath(), 'postgres'),
        '-D',
        join(dir, 'data'),
        ...settings({ port, unix_socket_directories: dir }),
        ...args,
      ],
      dir,
      env: cleanEnvironment(),
      owner,
      stopSignal: 'SIGINT',
      answers: () => answersQuery(databaseUrl(port, 'postgres')),
    });
  }

  /** The maintenance database; tests keep their tables in createDatabase(). */
  get url(): string {
    return databaseUrl(this.port, 'postgres');
  }

  /** Makes a new empty database with a unique name and returns its URL. */
  createDatabase(): Promise<string> {
    return createDatabase(this.url);
  }
}

/**
 * @param args further arguments of `postgres`, e.g. `['-c', 'max_connections=10']`.
 * @param tls also for clients over TLS, which must show a certificate where it asks them; to those without it is as ever.
 */
export async function startPostgres({
  args = [],
  env = {},
  tls,
}: {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  tls?: ServerTls;
} = {}): Promise<PostgresServer> {
  const { owner, dir } = newServerDirectory('postgres');
  const overTls = tls === undefined ? [] : installTls(tls, dir, owner);
  const initdbArgs = [
    '--auth=trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
    '--no-instructions',
  ];
  await run(join(postgresBinPath(), 'initdb'), ['-D', join(dir, 'data'), ...initdbArgs], {
    cwd: dir,
    env: cleanEnvironment(),
    ...owner,
  });
  const server = new PostgresServer(await freePort(), dir, owner, [...overTls, ...args], env);
  await server.start();
  return server;
}

/** Copies, since the server reads nothing that is not its own. @returns the arguments with which it uses them */
function installTls(tls: ServerTls, dir: string, owner: Owner | undefined): string[] {
  const asked = tls.asksClients ? ' clientcert=verify-ca' : '';
  const hba = `hostnossl all all 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 trust${asked}\n`;
  const texts = {
    hba_file: hba,
    ssl_cert_file: readFileSync(tls.cert),
    ssl_key_file: readFileSync(tls.key),
    ssl_ca_file: readFileSync(tls.ca),
  };
  const args = Object.entries(texts).flatMap(([name, text]) => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    return ['-c', `${name}=${path}`];
  });
  return [...args, '-c', 'ssl=on'];
}

/**
 * A standby with what this server holds now: a copy made while the server is down for a moment. It does not run, so it
 * hears of nothing that comes after. It answers on the server's port, so start it once that one is gone, unless it gets
 * a port of its own.
 */
export async function standbyOf(primary: PostgresServer, port = primary.port): Promise<PostgresServer> {
  const { owner, dir } = newServerDirectory('postgres');
  const data = join(dir, 'data');
  await primary.kill('SIGINT');
  await run('cp', ['-rp', join(primary.dir, 'data'), data]);
  await primary.start();
  writeFileSync(join(data, 'standby.signal'), '');
  return new PostgresServer(port, dir, owner, []);
}

/** A standby that follows this server: a running one, on a port of its own. @param by the port by which it reaches the server. */
export async function streamingStandbyOf(
  primary: PostgresServer,
  by = primary.port,
): Promise<PostgresServer> {
  const standby = await standbyOf(primary, await freePort());
  const from = `host=127.0.0.1 port=${by} user=postgres`;
  appendFileSync(join(standby.dir, 'data', 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
  await standby.start();
  return standby;
}

/** A directory of its own for a server that refuses to run as root, and the user it runs as then. */
export function newServerDirectory(name: string): { owner: Owner | undefined; dir: string } {
  const owner = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  const dir = temporaryDirectory(name);
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid);
  return { owner, dir };
}

/** Makes a database on the server of this URL, a copy of another one; returns the new database's URL. */
export async function createDatabase(serverUrl: string, template = 'template0'): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function databaseUrl(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

async function answersQuery(url: string): Promise<boolean> {
  await query(url, 'SELECT 1');
  return true;
}

/** One statement with a connection of its own. @returns its rows */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

function settings(own: Record<string, string | number>): string[] {
  // What a killed server wrote is still there without fsync: only a power cut loses it.
  const all = { listen_addresses: '127.0.0.1', fsync: 'off', full_page_writes: 'off', ...own };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function unprivilegedUser(): Owner {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined)
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Without the PG* variables of the caller's shell, which would point the server elsewhere. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')));
}
