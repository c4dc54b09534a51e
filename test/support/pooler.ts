// A throwaway PgBouncer on 127.0.0.1, between a test and a PostgreSQL server.
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { newServerDirectory } from './postgres-server.ts';
import { programPath } from './provision.ts';
import { ServerProcess } from './server-process.ts';

export interface Pooler {
  /** Of the same database, through the pooler. */
  readonly url: string;
  readonly server: ServerProcess;
}

/**
 * @param databaseUrl of the database behind it
 * @param inTurn whether it lends each of its connections in turn, not the one that was used last
 */
export async function startPooler(
  databaseUrl: string,
  mode: 'session' | 'transaction',
  inTurn = false,
): Promise<Pooler> {
  const { owner, dir } = newServerDirectory('pgbouncer');
  const port = await freePort();
  const url = new URL(databaseUrl);
  const database = url.pathname.slice(1);
  const file = join(dir, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${database} = host=${url.hostname} port=${url.port} dbname=${database} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
server_round_robin = ${inTurn ? 1 : 0}
`,
  );
  if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
  url.port = `${port}`;
  // With any user it asks for none, so the server behind is told which.
  const server = new ServerProcess({
    name: `pgbouncer on port ${port}`,
    command: programPath('pgbouncer'),
    args: [file],
    dir,
    owner,
    stopSignal: 'SIGINT',
    answers: () => answers(url.href),
  });
  await server.start();
  return { url: url.href, server };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.end();
  return true;
}
