// A daemon whose Redis and PostgreSQL are reached over TLS with client certificates: it becomes ready, and with certificates
// that cannot work it ends with 78 and names no secret.
import { chmodSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { runCli, spawnCli, waitFor } from '../support/processes.ts';
import { startRedis } from '../support/redis-server.ts';
import { runDoctor } from '../support/run-doctor.ts';

const [ours, others] = [new Authority(), new Authority()];
const SECRET = 'secret-of-redis';
let env: Record<string, string>;

beforeAll(async () => {
  const tls = { ...ours.issue('IP:127.0.0.1'), ca: ours.ca, asksClients: true };
  const [redis, postgres] = [
    await startRedis({ tls, args: ['--requirepass', SECRET] }),
    await startPostgres({ tls }),
  ];
  const { cert, key } = ours.issue('DNS:client');
  chmodSync(key, 0o600);
  const verified = new URLSearchParams({
    sslmode: 'verify-full',
    sslrootcert: ours.ca,
    sslcert: cert,
    sslkey: key,
  });
  env = {
    CARDPOLL_REDIS_URL: `rediss://:${SECRET}@127.0.0.1:${redis.tlsPort}`,
    CARDPOLL_REDIS_TLS_CA: ours.ca,
    CARDPOLL_REDIS_TLS_CERT: cert,
    CARDPOLL_REDIS_TLS_KEY: key,
    CARDPOLL_DATABASE_URL: `${postgres.url}?${verified}`,
    CARDPOLL_GATEWAY_URL: 'http://127.0.0.1:9',
    CARDPOLL_LISTEN: `127.0.0.1:${await freePort()}`,
  };
});

it('becomes ready, and the doctor reaches both', async () => {
  const daemon = spawnCli(['daemon'], { env });
  const ready = async () => !daemon.running || (await fetch(`http://${env.CARDPOLL_LISTEN}/readyz`)).ok;
  await waitFor(ready, { what: 'the daemon to be ready' });
  const { statusOf } = await runDoctor(env);
  expect([statusOf('redis'), statusOf('postgresql')]).toEqual(['ok', 'ok']);
  expect(await daemon.stop()).toMatchObject({ code: 0 });
});

it.each([
  ['another authority', { CARDPOLL_REDIS_TLS_CA: others.ca }, 'of no authority that is trusted here'],
  [
    'no client certificate',
    { CARDPOLL_REDIS_TLS_CERT: '', CARDPOLL_REDIS_TLS_KEY: '' },
    'asks for a client certificate',
  ],
  [
    'a URL that asks for no TLS',
    { CARDPOLL_REDIS_URL: 'redis://127.0.0.1:6379' },
    'redis_tls_ca is set, but redis_url',
  ],
])('with %s it ends with 78', async (_, change, said) => {
  const { code, stdout, stderr } = await runCli(['daemon'], { env: { ...env, ...change } });
  expect([code, stderr]).toEqual([78, expect.stringContaining(said)]);
  expect(stdout + stderr).not.toContain(SECRET);
});
