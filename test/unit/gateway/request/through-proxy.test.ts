// Calls of a gateway through a proxy, over real sockets: how many there are on each side, what the proxy sees, and what is said when
// the proxy refuses, hangs or is not there. The gateway has a name that only the proxy knows, so no call can go around it.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { GatewayConfig } from '../../../../src/domain/gateway/gateway-config.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
import { type Simulator, startSimulator } from '../../../../src/gateway/simulate/simulator.ts';
import { tryInterfaces } from '../../../../src/gateway/trial/trial.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { type HttpProxy, NO_PROXIES, type Proxies } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, hang, startBadGateway } from '../../../support/bad-gateway.ts';
import { Authority } from '../../../support/certificates.ts';
import {
  type ForwardProxy,
  type ForwardProxyOptions,
  startForwardProxy,
} from '../../../support/forward-proxy.ts';
import { freePort } from '../../../support/free-port.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';
import { waitFor } from '../../../support/processes.ts';

const CARD = { cardId: 1, iccid: demoIccid(1), carrierId: 1 };
const CREDENTIALS = 'operator:pass-of-the-proxy';
const LONG_MS = 30_000;
const FLOW = '{"code":200,"data":{"used":12.5}}';

const opened: Array<() => Promise<unknown>> = [];
let lines: string[] = [];
beforeEach(() => {
  lines = [];
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  for (const secret of [CREDENTIALS.split(':')[1] ?? '', btoa(CREDENTIALS)])
    expect(lines.join('')).not.toContain(secret);
});

let authority: Authority;
let gatewayTls: { cert: string; key: string };
const issued = (names: string) => {
  const { cert, key } = authority.issue(names);
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
};
beforeAll(() => {
  authority = new Authority();
  gatewayTls = issued('DNS:gateway.example');
});
const trusting = () => ({ ca: readFileSync(authority.ca, 'utf8'), pair: null });

async function proxyTo(
  server: string,
  options: ForwardProxyOptions = {},
  names = ['gateway.example:80', 'gateway.example:443'],
): Promise<ForwardProxy> {
  const servers = Object.fromEntries(names.map((name) => [name, server]));
  const proxy = await startForwardProxy({ servers, ...options });
  opened.push(() => proxy.close());
  return proxy;
}

const through = (url: string, credentials: string | null = null): HttpProxy => ({
  url,
  authorization: credentials === null ? null : `Basic ${btoa(credentials)}`,
  variable: 'HTTPS_PROXY',
});
const proxiesAt = (url: string, credentials: string | null = null) => ({
  ...{ http: through(url, credentials), https: through(url, credentials), exempt: [] },
});

function client({ proxies, ...changes }: GatewayChanges & { proxies: Proxies }): GatewayClient {
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const deps = { log, clock: systemClock, calendar: new MonthCalendar('UTC'), proxies };
  const made = new GatewayClient(gatewayConfig(changes), deps);
  opened.push(() => made.close());
  return made;
}

async function simulator(): Promise<Simulator> {
  const started = await startSimulator({ host: '127.0.0.1', port: 0 });
  opened.push(() => started.close());
  return started;
}

/** A gateway behind TLS with a certificate of an authority of its own. `calls` has the path of each request. */
async function tlsGateway(tls = gatewayTls) {
  const calls: string[] = [];
  const server = createServer(tls, (request, response) => {
    calls.push(request.url ?? '');
    request.resume().on('end', () => response.end(FLOW));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(
    async () => server.closeAllConnections(),
    async () => void server.close(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

const failureOf = (call: Promise<unknown>): Promise<GatewayError> =>
  call.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error) => {
      expect(error).toBeInstanceOf(GatewayError);
      return error;
    },
  );

const many = <T>(n: number, one: () => Promise<T>) => Promise.all(Array.from({ length: n }, one));

describe('an http:// gateway', () => {
  it('gets every call by the proxy, over no more connections than are allowed', async () => {
    const gateway = await simulator();
    const proxy = await proxyTo(gateway.url, { credentials: CREDENTIALS });
    const calling = client({
      url: 'http://gateway.example/base',
      maxConnections: 3,
      proxies: proxiesAt(proxy.url, CREDENTIALS),
    });
    await many(20, () => calling.call('flow', CARD, LONG_MS).catch(() => {}));
    expect(proxy.asked).toHaveLength(20);
    expect(proxy.mostOpen()).toBe(3);
    expect(proxy.asked[0]).toMatchObject({
      method: 'POST',
      target: expect.stringMatching(/^http:\/\/gateway\.example\/base\//),
      headers: { host: 'gateway.example', 'cache-control': 'no-cache' },
    });
  });

  it('counts as many calls as the proxy', async () => {
    const gateway = await simulator();
    const proxy = await proxyTo(gateway.url);
    const calling = client({ url: 'http://gateway.example', proxies: proxiesAt(proxy.url) });
    await many(20, () => calling.call('flow', CARD, LONG_MS));
    expect([proxy.asked.length, gateway.stats().requests]).toEqual([20, 20]);
  });

  it('keeps the headers that its profile names', async () => {
    const gateway = await startBadGateway(answer(200, FLOW));
    opened.push(() => gateway.close());
    const proxy = await proxyTo(gateway.url);
    const headers = { 'Cache-Control': 'max-age=0', 'X-Fleet': 'ours' };
    const calling = client({
      ...{ url: 'http://gateway.example', proxies: proxiesAt(proxy.url) },
      interfaces: { flow: { headers } },
    });
    await calling.call('flow', CARD, LONG_MS);
    expect(gateway.requests[0]?.headers).toMatchObject({ 'cache-control': 'max-age=0', 'x-fleet': 'ours' });
  });

  it.each([403, 502, 503, 504])('is not accused alone when the answer has HTTP %d', async (refuse) => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = { refuse };
    const calling = client({ url: 'http://gateway.example', proxies: proxiesAt(proxy.url) });
    const { message } = await failureOf(calling.call('flow', CARD, LONG_MS));
    expect(message).toMatch(new RegExp(`^HTTP ${refuse}.*, through proxy ${proxy.url} \\(HTTPS_PROXY\\)$`));
  });

  it('is not accused alone when the answer is a page of the proxy', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = { refuse: 200 };
    const calling = client({ url: 'http://gateway.example', proxies: proxiesAt(proxy.url) });
    const { failure, message } = await failureOf(calling.call('flow', CARD, LONG_MS));
    expect([failure, message]).toEqual(['malformed', expect.stringContaining(`proxy ${proxy.url}`)]);
  });

  it('is not named at all when it says itself what is wrong', async () => {
    const gateway = await startBadGateway(answer(200, '{"code":999,"message":"no such plan"}'));
    opened.push(() => gateway.close());
    const proxy = await proxyTo(gateway.url);
    const calling = client({ url: 'http://gateway.example', proxies: proxiesAt(proxy.url) });
    const { failure, message } = await failureOf(calling.call('flow', CARD, LONG_MS));
    expect([failure, message]).toEqual(['business', expect.not.stringContaining('proxy')]);
  });
});

describe('an https:// gateway', () => {
  it('is reached by tunnels, one for each connection, with TLS from end to end', async () => {
    const gateway = await tlsGateway();
    const proxy = await proxyTo(gateway.url, { credentials: CREDENTIALS });
    const calling = client({
      ...{ url: 'https://gateway.example', maxConnections: 3, tls: trusting() },
      proxies: proxiesAt(proxy.url, CREDENTIALS),
    });
    await many(20, () => calling.call('flow', CARD, LONG_MS));
    expect(gateway.calls).toHaveLength(20);
    expect(proxy.asked.map(({ method, target }) => `${method} ${target}`)).toEqual(
      Array(3).fill('CONNECT gateway.example:443'),
    );
    expect(proxy.mostOpen()).toBe(3);
    expect(JSON.stringify(proxy.asked)).not.toContain(CARD.iccid);
  });

  it('is reached through a proxy that speaks TLS itself only if Node trusts that', async () => {
    const gateway = await tlsGateway();
    const proxy = await proxyTo(gateway.url, { tls: gatewayTls });
    const calling = client({
      ...{ url: 'https://gateway.example', tls: trusting() },
      proxies: proxiesAt(proxy.url),
    });
    const { failure, message } = await failureOf(calling.call('flow', CARD, LONG_MS));
    expect([failure, message]).toEqual([
      'connect',
      expect.stringContaining(`no tunnel by proxy ${proxy.url}`),
    ]);
    expect(gateway.calls).toEqual([]);
  });

  it.each([
    ['of an authority that is not trusted', 'DNS:gateway.example', false],
    ['for another name', 'DNS:other.example,DNS:localhost,IP:127.0.0.1', true],
  ])('is not called when its certificate is %s', async (_, names, isTrusted) => {
    const gateway = await tlsGateway(issued(names));
    const proxy = await proxyTo(gateway.url);
    const tls = isTrusted ? trusting() : { ca: null, pair: null };
    const calling = client({ url: 'https://gateway.example', tls, proxies: proxiesAt(proxy.url) });
    const { failure, message } = await failureOf(calling.call('flow', CARD, LONG_MS));
    expect([failure, message]).toEqual(['connect', expect.stringContaining(`through proxy ${proxy.url}`)]);
    expect(gateway.calls).toEqual([]);
    await waitFor(() => proxy.open() === 0, { what: 'the tunnel to be closed' });
  });

  it('is still reached through the proxy after its certificates were replaced', async () => {
    const gateway = await tlsGateway();
    const proxy = await proxyTo(gateway.url);
    const config = gatewayConfig({ url: 'https://gateway.example', tls: { ca: null, pair: null } });
    const calling = client({ ...(config as GatewayChanges), proxies: proxiesAt(proxy.url) });
    await failureOf(calling.call('flow', CARD, LONG_MS));
    const { token, hmacKey, username, password, clientId, clientSecret }: GatewayConfig = config;
    calling.replaceCredentials({
      ...{ token, hmacKey, username, password, clientId, clientSecret },
      tls: trusting(),
    });
    await calling.call('flow', CARD, LONG_MS);
    expect([gateway.calls.length, proxy.asked.length]).toEqual([1, 2]);
  });
});

describe.each(['http', 'https'])('a stop of an %s:// gateway', (scheme) => {
  it('is sent once, also when the proxy loses the answer', async () => {
    const gateway = scheme === 'https' ? await tlsGateway() : await startBadGateway(answer(200, FLOW));
    if ('close' in gateway) opened.push(() => gateway.close());
    const proxy = await proxyTo(gateway.url);
    const calling = client({
      ...{ url: `${scheme}://gateway.example`, proxies: proxiesAt(proxy.url) },
      ...(scheme === 'https' ? { tls: trusting() } : {}),
    });
    if (scheme === 'http') proxy.behaviour = 'lose';
    const calls = () => ('calls' in gateway ? gateway.calls : gateway.requests).length;
    if (scheme === 'http') {
      const { failure } = await failureOf(calling.call('stop', CARD, LONG_MS));
      expect(failure).toBe('network');
    } else {
      await calling.call('stop', CARD, LONG_MS);
    }
    await calling.call('flow', CARD, LONG_MS).catch(() => {});
    expect(calls()).toBe(2);
  });
});

it('a stop is sent once when its tunnel is closed after it was sent', async () => {
  const gateway = await startBadGateway(hang);
  opened.push(() => gateway.close());
  let requests = 0;
  const server = createServer(gatewayTls, (request) => {
    requests += 1;
    request.resume().on('end', () => void proxy.close());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(async () => void server.close());
  const proxy = await startForwardProxy({
    servers: { 'gateway.example:443': `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  const calling = client({
    ...{ url: 'https://gateway.example', tls: trusting(), proxies: proxiesAt(proxy.url) },
  });
  const { failure, message } = await failureOf(calling.call('stop', CARD, LONG_MS));
  expect([failure, message]).toEqual(['network', expect.stringContaining(`through proxy ${proxy.url}`)]);
  const { failure: next } = await failureOf(calling.call('flow', CARD, LONG_MS));
  expect([requests, next]).toEqual([1, 'connect']);
});

describe.each(['http://gateway.example', 'https://gateway.example'])('calls of %s', (url) => {
  const calling = (proxies: Proxies, changes: Partial<GatewayChanges> = {}) =>
    client({ url, proxies, ...changes });

  it('fail as without a connection when the proxy is not there', async () => {
    const at = `http://127.0.0.1:${await freePort()}`;
    const { failure, message } = await failureOf(calling(proxiesAt(at)).call('flow', CARD, LONG_MS));
    expect(failure).toBe('connect');
    expect(message).toMatch(/ECONNREFUSED/);
    expect(message).toContain(`proxy ${at} (HTTPS_PROXY)`);
  });

  it('end at their deadline when the proxy hangs', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = 'hang';
    const { failure, message } = await failureOf(calling(proxiesAt(proxy.url)).call('flow', CARD, 300));
    expect(['connect', 'timeout']).toContain(failure);
    expect(message).toMatch(/within the deadline, through proxy /);
  });

  it('say which variable needs the credentials that the proxy asks for', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1', { credentials: 'operator:another' });
    const bare = await failureOf(calling(proxiesAt(proxy.url)).call('stop', CARD, LONG_MS));
    expect([bare.failure, bare.message]).toEqual([
      'connect',
      expect.stringMatching(/^proxy \S+ \(HTTPS_PROXY\) answered HTTP 407.*: it asks for credentials/),
    ]);
    const wrong = await failureOf(calling(proxiesAt(proxy.url, CREDENTIALS)).call('flow', CARD, LONG_MS));
    expect(wrong.message).toContain('it does not accept the credentials in HTTPS_PROXY');
  });

  it('go directly to a host of NO_PROXY', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    const proxies = { ...proxiesAt(proxy.url), exempt: ['.example'] };
    const { failure, message } = await failureOf(calling(proxies).call('flow', CARD, LONG_MS));
    expect([failure, message]).toEqual(['connect', expect.not.stringContaining('proxy')]);
    expect(proxy.asked).toEqual([]);
  });
});

it.each([403, 502, 301])('a tunnel that the proxy refuses with HTTP %d is its refusal', async (refuse) => {
  const proxy = await proxyTo('http://127.0.0.1:1');
  proxy.behaviour = { refuse };
  const calling = client({ url: 'https://gateway.example', proxies: proxiesAt(proxy.url) });
  const { failure, message } = await failureOf(calling.call('flow', CARD, LONG_MS));
  expect([failure, message]).toEqual([
    'connect',
    `proxy ${proxy.url} (HTTPS_PROXY) answered HTTP ${refuse} to CONNECT gateway.example:443`,
  ]);
  expect(proxy.asked).toHaveLength(1);
});

it('something that is no proxy is named, too', async () => {
  const server = await startBadGateway((socket) => void socket.end('SSH-2.0-nonsense\r\n'));
  opened.push(() => server.close());
  const calling = client({ url: 'https://gateway.example', proxies: proxiesAt(server.url) });
  const { failure, message } = await failureOf(calling.call('flow', CARD, LONG_MS));
  expect([failure, message]).toEqual([
    'connect',
    expect.stringContaining(`no tunnel by proxy ${server.url}`),
  ]);
});

describe('a server of tokens', () => {
  const auth = {
    ...defaultsOf(SETTINGS.auth),
    kind: 'oauth2',
    tokenUrl: 'http://login.example/token',
  } as const;
  const signedIn = { auth, clientId: 'fleet', clientSecret: 'secret-of-the-fleet' };

  it('is asked through the proxy of its own scheme', async () => {
    const login = await startBadGateway(answer(200, '{"access_token":"granted-to-us","expires_in":3600}'));
    opened.push(() => login.close());
    const gateway = await tlsGateway();
    const proxy = await proxyTo(gateway.url);
    const other = await proxyTo(login.url, { credentials: CREDENTIALS }, ['login.example:80']);
    const calling = client({
      ...{ url: 'https://gateway.example', tls: trusting(), ...signedIn },
      proxies: { http: through(other.url, CREDENTIALS), https: through(proxy.url), exempt: [] },
    });
    await many(5, () => calling.call('flow', CARD, LONG_MS));
    expect([gateway.calls.length, login.requests.length]).toEqual([5, 1]);
    expect(other.asked.map(({ method, target }) => [method, target])).toEqual([
      ['POST', 'http://login.example/token'],
    ]);
    expect(login.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it.each([403, 407, 502, 200])('is not accused alone when the proxy answers HTTP %d', async (refuse) => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = { refuse };
    const proxies = { ...NO_PROXIES, http: through(proxy.url) };
    const calling = client({ url: 'https://127.0.0.1:1', ...signedIn, proxies });
    const { message } = await failureOf(calling.call('flow', CARD, LONG_MS));
    expect(message).toContain(`proxy ${proxy.url} (HTTPS_PROXY)`);
  });
});

it('a trial names the proxy, what to check, and no credentials that the proxy quotes', async () => {
  const quoting = await startBadGateway((socket, { headers }) =>
    answer(500, `you sent ${headers['proxy-authorization']}`)(socket, {} as never),
  );
  opened.push(() => quoting.close());
  const trial = async (at: string) => {
    const proxies = proxiesAt(at, CREDENTIALS);
    const deps = { clock: systemClock, calendar: new MonthCalendar('UTC'), proxies };
    return tryInterfaces(gatewayConfig({ url: 'http://gateway.example' }), 'flow', CARD, deps);
  };
  const [quoted] = await trial(quoting.url);
  expect(quoted).toMatchObject({ proxy: `proxy ${quoting.url} (HTTPS_PROXY)`, answer: 'you sent Basic ***' });
  const [failed] = await trial(`http://127.0.0.1:${await freePort()}`);
  expect(failed?.hint).toMatch(/^check that the proxy runs/);
  expect(JSON.stringify([quoted, failed])).not.toContain(btoa(CREDENTIALS));
});
