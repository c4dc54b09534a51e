// The daemon over HTTPS: the command line that trusts it, another certificate by SIGHUP, files that cannot work, and a
// stop that a load balancer sees coming.
import { once } from 'node:events';
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { emptyDatabase, freshRedis } from '../support/fresh-stores.ts';
import { type RunningCli, runCli, spawnCli, waitFor } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { certificatePath, installPair } from '../support/tls-pair.ts';

const dir = temporaryDirectory('https');
const [cert, key] = [join(dir, 'tls.crt'), join(dir, 'tls.key')];
const trusting = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 });

let daemon: RunningCli;
let url: string;

beforeAll(async () => {
  const port = await freePort();
  url = `https://127.0.0.1:${port}`;
  installPair('first', cert, key);
  const args = ['--listen', `127.0.0.1:${port}`, '--tls-cert', cert, '--tls-key', key, '--log-dir', dir];
  daemon = spawnCli(['daemon', ...args], {
    env: {
      CARDPOLL_REDIS_URL: (await freshRedis()).url,
      CARDPOLL_DATABASE_URL: await emptyDatabase(),
      CARDPOLL_GATEWAY_URL: 'http://127.0.0.1:9',
      CARDPOLL_API_DRAIN_DELAY_MS: '5000',
    },
  });
  await waitFor(async () => (await readiness()) === 200, {
    what: 'the daemon to be ready',
  });
});

async function readiness(): Promise<number> {
  const { statusCode, body } = await request(`${url}/readyz`, { dispatcher: trusting });
  await body.dump();
  return statusCode;
}

async function servedName(): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

async function logged(message: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for await (const text of createInterface({ input: createReadStream(join(dir, 'worker.log')) })) {
    const line = JSON.parse(text) as Record<string, unknown>;
    if (String(line.msg).startsWith(message)) found.push(line);
  }
  return found;
}

/** Sends SIGHUP and waits for the line that ends the reload. */
async function reload(message: string): Promise<Record<string, unknown>> {
  const before = (await logged(message)).length;
  daemon.signal('SIGHUP');
  return waitFor(async () => (await logged(message))[before], { what: message });
}

it('the command line talks to it when it knows whom to trust', async () => {
  const env = { CARDPOLL_URL: url };
  const trusted = await runCli(['stats'], { env: { ...env, NODE_EXTRA_CA_CERTS: certificatePath('first') } });
  expect(trusted).toMatchObject({ code: 0 });
  const distrusted = await runCli(['stats'], { env });
  expect(distrusted.code).toBe(69);
  expect(distrusted.stderr).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/);
});

it('SIGHUP takes another certificate, and keeps the present one when the new files cannot work', async () => {
  installPair('second', cert, key);
  expect(await reload('configuration reloaded')).toMatchObject({ changed: ['tls'] });
  expect(await servedName()).toBe('cardpoll test second');
  writeFileSync(cert, 'no certificate');
  await reload('configuration not reloaded');
  expect(await servedName()).toBe('cardpoll test second');
});

it('a stop shows in readyz first, while connections are still taken', async () => {
  daemon.signal('SIGTERM');
  await waitFor(async () => (await readiness()) === 503, { what: 'readyz to say so' });
  expect(await daemon.ended()).toMatchObject({ code: 0 });
});
