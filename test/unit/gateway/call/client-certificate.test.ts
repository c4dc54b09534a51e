// A gateway that asks for a certificate of its client and has one of an authority of its own: what a client shows and trusts, a new
// certificate while calls are made, and what is refused at the start.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import type { GatewayError } from '../../../../src/gateway/gateway.ts';
import { tryInterfaces } from '../../../../src/gateway/trial/trial.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { certificatePath, installPair, tlsPair } from '../../../support/tls-pair.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const deps = { clock: systemClock, calendar: new MonthCalendar('UTC'), proxies: NO_PROXIES };
const directory = temporaryDirectory('client-certificate');
const cert = join(directory, 'cert.pem');
const key = join(directory, 'key.pem');

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Takes a client that shows one of the two certificates. `seen` has their fingerprints, one for each connection. */
async function start() {
  const seen: string[] = [];
  const ca = [tlsPair('first').cert, tlsPair('second').cert];
  const server = createServer({ ...tlsPair('first'), ca, requestCert: true }, (_, response) =>
    response.end('{"code":200,"data":{"used":5}}'),
  );
  server.on('secureConnection', (socket: TLSSocket) => seen.push(socket.getPeerCertificate().fingerprint256));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(
    async () => server.closeAllConnections(),
    async () => void server.close(),
  );
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const files = (env: Readonly<Record<string, string>> = {}) => ({
  CARDPOLL_GATEWAY_TLS_CERT: cert,
  CARDPOLL_GATEWAY_TLS_KEY: key,
  CARDPOLL_GATEWAY_TLS_CA: certificatePath('first'),
  ...env,
});

async function load(url: string, env: Readonly<Record<string, string>>) {
  return (await loadGatewayConfig({ flags: { '--gateway-url': url }, env })).gateway;
}

const refusal = (url: string, env: Readonly<Record<string, string>>) =>
  load(url, env).then(
    () => null,
    (error: Error) => error.message,
  );

it('is shown, and the authority is trusted', async () => {
  installPair('second', cert, key);
  const { url, seen } = await start();
  const [trial] = await tryInterfaces(await load(url, files()), 'flow', CARD, deps);
  expect(trial).toMatchObject({ ok: true, value: 5 });
  expect(seen).toHaveLength(1);
});

it('is needed where the gateway asks for one: the trial names the settings', async () => {
  const { url } = await start();
  const [untrusted] = await tryInterfaces(await load(url, {}), 'flow', CARD, deps);
  expect(untrusted).toMatchObject({ error: 'connect', hint: expect.stringMatching(/gateway\.tls_ca/) });
  const env = { CARDPOLL_GATEWAY_TLS_CA: certificatePath('first') };
  const [bare] = await tryInterfaces(await load(url, env), 'flow', CARD, deps);
  expect(bare).toMatchObject({
    ok: false,
    hint: expect.stringMatching(/client certificate.*gateway\.tls_cert/),
  });
});

it('the certificate of the gateway is seen, with its end, and is named where it is not accepted', async () => {
  installPair('second', cert, key);
  const { url } = await start();
  const open = async (env: Readonly<Record<string, string>>) => {
    const client = new GatewayClient(await load(url, env), { ...deps, log: silentLogger() });
    opened.push(() => client.close());
    return client;
  };
  const client = await open(files());
  expect(client.certificateEndsMs).toBeNull();
  await client.call('flow', CARD, 20_000);
  expect(client.certificateEndsMs).toBe(Date.parse(new X509Certificate(tlsPair('first').cert).validTo));
  const distrusting = await open({});
  await expect(distrusting.call('flow', CARD, 20_000)).rejects.toMatchObject({ kind: 'certificate' });
});

it('is replaced while calls are made, and none of them fails', async () => {
  installPair('second', cert, key);
  const { url, seen } = await start();
  const client = new GatewayClient(await load(url, files()), { ...deps, log: silentLogger() });
  opened.push(() => client.close());
  const call = () =>
    client.call('flow', CARD, 20_000).then(
      ({ value }) => value,
      ({ message }: GatewayError) => message,
    );
  expect(await call()).toBe(5);
  const before = [call(), call()];
  installPair('first', cert, key);
  client.replaceCredentials(await load(url, files()));
  expect(await Promise.all([...before, call(), call()])).toEqual([5, 5, 5, 5]);
  expect(new Set(seen).size).toBe(2);
});

describe('files that cannot work are refused', () => {
  const url = 'https://127.0.0.1:1';
  it.each([
    [
      'a key without its certificate',
      { CARDPOLL_GATEWAY_TLS_CERT: '' },
      /gateway\.tls_key is set, so give .*tls_cert/i,
    ],
    [
      'an authority that is none',
      { CARDPOLL_GATEWAY_TLS_CA: key },
      /gateway\.tls_ca: .* holds no certificate/,
    ],
    ['a file that is not there', { CARDPOLL_GATEWAY_TLS_CA: '/nowhere' }, /gateway\.tls_ca: /],
  ])('%s', async (_, env, expected) => {
    installPair('second', cert, key);
    expect(await refusal(url, files(env))).toMatch(expected);
  });

  it('a key that every user can read, and one of another certificate', async () => {
    installPair('second', cert, key);
    chmodSync(key, 0o644);
    expect(await refusal(url, files())).toMatch(/gateway\.tls_key: every user can read .*; run chmod 600/);
    chmodSync(key, 0o600);
    writeFileSync(cert, tlsPair('first').cert);
    expect(await refusal(url, files())).toMatch(/gateway\.tls_cert: .* cannot be used together/);
  });

  it('any of them for a gateway without TLS', async () => {
    installPair('second', cert, key);
    expect(await refusal('http://127.0.0.1:1', files())).toMatch(
      /gateway\.tls_cert is set, but gateway\.url does not begin with https/,
    );
  });
});
