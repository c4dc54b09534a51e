// PostgreSQL over TLS: verified as the URL says, with a client certificate where the server asks for one; what may be wrong
// with certificates is named and is an error of the configuration.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { Authority } from '../../support/certificates.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

const [ours, others] = [new Authority(), new Authority()];
const client = ours.issue('DNS:client');
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ tls: { ...ours.issue('IP:127.0.0.1'), ca: ours.ca, asksClients: true } });
});
afterAll(() => server.stop());

async function ping(parameters: Readonly<Record<string, string>>, host = '127.0.0.1'): Promise<void> {
  const url = new URL(server.url);
  url.hostname = host;
  url.password = 'a-secret';
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const store = await openPostgresRecordStore({ url: url.href, applicationName: 'cardpoll-test' });
  try {
    await store.ping();
  } finally {
    await store.close();
  }
}

const verified = { sslmode: 'verify-full', sslrootcert: ours.ca };
const withCertificate = { ...verified, sslcert: client.cert, sslkey: client.key };

it('does work', async () => {
  await ping(withCertificate);
});

it.each([
  [
    'an authority that did not sign',
    { ...withCertificate, sslrootcert: others.ca },
    'its certificate is of no authority',
  ],
  ['no authority', { sslmode: 'verify-full' }, 'its certificate is of no authority'],
])('%s', async (_, parameters, said) => {
  const refused = ping(parameters);
  await expect(refused).rejects.toMatchObject({ kind: 'config', code: 'postgres_tls' });
  await expect(refused).rejects.toThrow(said);
  await expect(refused).rejects.not.toThrow('a-secret');
});

it('a certificate for other names', async () => {
  const refused = ping(withCertificate, 'localhost');
  await expect(refused).rejects.toMatchObject({ kind: 'config', code: 'postgres_tls' });
  await expect(refused).rejects.toThrow('for other names than it is reached by');
});

it('a client certificate that is missing', async () => {
  const refused = ping(verified);
  await expect(refused).rejects.toMatchObject({ kind: 'config', code: 'postgres_access_refused' });
  await expect(refused).rejects.toThrow('client certificate');
});

it('a file that is not there', async () => {
  const refused = ping({ ...withCertificate, sslrootcert: '/nowhere/ca.pem' });
  await expect(refused).rejects.toMatchObject({ kind: 'config', code: 'bad_database_url' });
  await expect(refused).rejects.toThrow('/nowhere/ca.pem');
});

it('a server without TLS', async () => {
  const plain = await startPostgres();
  const store = await openPostgresRecordStore({
    url: `${plain.url}?sslmode=verify-full`,
    applicationName: 'cardpoll-test',
  });
  await expect(store.ping()).rejects.toMatchObject({ kind: 'config', code: 'postgres_tls' });
  await store.close();
  await plain.stop();
});
