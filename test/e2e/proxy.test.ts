// A real daemon that reaches its gateway and the receiver of its heartbeat by proxies alone: their names are known to the proxies only.
// What it calls, what it says about the proxies, and that it never shows their credentials. Commands never ask a proxy.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { type Simulator, startSimulator } from '../../src/gateway/simulate/simulator.ts';
import { Authority } from '../support/certificates.ts';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { waitFor } from '../support/processes.ts';
import { runDoctor } from '../support/run-doctor.ts';

const PASSWORD = 'pass-of-the-proxy';
const CREDENTIALS = `operator:${PASSWORD}`;
let gateway: Simulator;
let receiver: Server;
let beats = 0;
let plain: ForwardProxy;
let secure: ForwardProxy;
/** It has a certificate for this name only. */
let secureUrl: string;
let fleet: Fleet;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  const authority = new Authority();
  const { cert, key } = authority.issue('DNS:beats.example');
  receiver = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) => {
    beats += 1;
    response.end('OK');
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  gateway = await startSimulator({ host: '127.0.0.1', port: 0 });
  plain = await startForwardProxy({ servers: { 'gateway.example:80': gateway.url } });
  const ofProxy = authority.issue('DNS:localhost');
  secure = await startForwardProxy({
    servers: { 'beats.example:443': `http://127.0.0.1:${port}` },
    credentials: CREDENTIALS,
    tls: { cert: readFileSync(ofProxy.cert, 'utf8'), key: readFileSync(ofProxy.key, 'utf8') },
  });
  secureUrl = `https://localhost:${secure.port}`;
  env = {
    http_proxy: plain.url,
    HTTP_PROXY: 'http://127.0.0.1:1',
    HTTPS_PROXY: secureUrl.replace('//', `//${CREDENTIALS}@`),
    NO_PROXY: 'direct.example',
    CARDPOLL_ALERTS_HEARTBEAT_URL: 'https://beats.example/ping',
    CARDPOLL_ALERTS_HEARTBEAT_INTERVAL_MS: '1s',
    // The receiver's name is known to the proxy only, so nothing is left to check here.
    CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '0.0.0.0/0,::/0',
    NODE_EXTRA_CA_CERTS: authority.ca,
  };
  fleet = await Fleet.start({ gatewayUrl: 'http://gateway.example' });
  await fleet.startDaemon(env);
  await fleet.setIntervals(5);
  await fleet.importCards(50);
});
afterAll(async () => {
  fleet?.close();
  await Promise.all([gateway?.close(), plain?.close(), secure?.close()]);
  receiver?.closeAllConnections();
  receiver?.close();
});

const ROUTE = () => ({
  gateway: `through proxy ${plain.url} (http_proxy)`,
  heartbeat: `through proxy ${secureUrl} (HTTPS_PROXY)`,
});

it('polls and beats by the proxies, and says so once', async () => {
  await waitFor(() => beats > 1, { what: 'two heartbeats' });
  expect(await fleet.logged('the environment names a proxy')).toMatchObject([
    { ...ROUTE(), webhooks: expect.stringMatching(/direct: direct\.example \(NO_PROXY\)$/) },
  ]);
  expect(new Set(secure.asked.map(({ target }) => target))).toEqual(new Set(['beats.example:443']));
  const counts = () => [plain.asked.length, gateway.stats().requests];
  await waitFor(() => gateway.stats().requests > 100, { what: 'a hundred calls' });
  // Between two polls neither has a call that the other has not.
  await waitFor(() => counts()[0] === counts()[1], { what: 'as many calls at the gateway as at the proxy' });
});

it('names the proxies in the doctor and in a trial, and reaches the daemon without them', async () => {
  const [{ url = '' } = {}] = fleet.daemons;
  const settings = {
    ...env,
    CARDPOLL_REDIS_URL: fleet.redisServer.url,
    CARDPOLL_DATABASE_URL: fleet.databaseUrl,
    CARDPOLL_GATEWAY_URL: 'http://gateway.example',
  };
  const { report, found } = await runDoctor({ ...settings, CARDPOLL_URL: url });
  expect(found('proxy gateway')).toMatchObject({ status: 'ok', detail: ROUTE().gateway });
  expect(found('proxy heartbeat')).toMatchObject({ status: 'ok', detail: ROUTE().heartbeat });
  expect(found('gateway realname')?.detail).toMatch(/answers in/);
  const args = ['gateway', 'try', '--iccid', demoIccid(1), '--interface', 'flow'];
  const { code, stdout } = await cliHere(args, { env: settings });
  expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`through +proxy ${plain.url}`))]);
  expect(JSON.stringify(report) + stdout).not.toContain(PASSWORD);
});

it('blames the proxy when it is gone, and shows no credentials', async () => {
  await plain.close();
  const failures = async () => (await fleet.cli('stats', 'failures')).stdout;
  await waitFor(async () => (await failures()).includes(`through proxy ${plain.url}`), {
    what: 'a failure that names the proxy',
  });
  const [{ logDir = '' } = {}] = fleet.daemons;
  const log = readFileSync(join(logDir, 'worker.log'), 'utf8');
  for (const secret of [PASSWORD, btoa(CREDENTIALS)]) expect(log).not.toContain(secret);
});

it.each([
  ['HTTPS_PROXY', `socks5://${CREDENTIALS}@proxy.example`, 'a socks5:// proxy is not supported'],
  ['http_proxy', `http://${CREDENTIALS}@proxy.example:port`, 'must be the URL of a proxy'],
])('refuses %s=%s with 78, and does not show it', async (name, value, why) => {
  const args = ['gateway', 'try', '--iccid', demoIccid(1), '--gateway-url', 'http://gateway.example'];
  const { code, stderr } = await cliHere(args, { env: { [name]: value } });
  expect([code, stderr]).toEqual([78, expect.stringContaining(`${name}: ${why}`)]);
  expect(stderr).not.toContain(PASSWORD);
});
