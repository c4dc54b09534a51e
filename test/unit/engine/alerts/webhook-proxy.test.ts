// A webhook through a proxy, over real sockets: the guard still decides, since the proxy is asked for an address that was checked here
// and never for a name. The heartbeat goes the same way.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callWebhook, WebhookTester } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import type { Resolve } from '../../../../src/platform/name-queue.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { answer, type BadGateway, type Behaviour, startBadGateway } from '../../../support/bad-gateway.ts';
import { Authority } from '../../../support/certificates.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  type ForwardProxy,
  type ForwardProxyOptions,
  startForwardProxy,
} from '../../../support/forward-proxy.ts';
import { freePort } from '../../../support/free-port.ts';
import { TESTER_MEANS } from '../../../support/message-deps.ts';
import { waitFor } from '../../../support/processes.ts';

const CREDENTIALS = 'operator:pass-of-the-proxy';
const PUBLIC = '93.184.215.14';
const SECURE = `https://hooks.example/T000`;
const PLAIN = `http://hooks.example:8080/T000`;

const resolvingTo =
  (...addresses: string[]): Resolve =>
  (_, __, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
const unresolved: Resolve = (name, _, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);

async function receiver(behaviour: Behaviour = answer(204, '')): Promise<BadGateway> {
  const started = await startBadGateway(behaviour);
  onTestFinished(() => started.close());
  return started;
}

async function proxyTo(server: string, options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const names = [`${PUBLIC}:443`, `${PUBLIC}:8080`, '[2606:4700::1111]:8080', 'hooks.example:8080'];
  const servers = Object.fromEntries(names.map((name) => [name, server]));
  const proxy = await startForwardProxy({ servers, ...options });
  onTestFinished(() => proxy.close());
  return proxy;
}

const guardBehind = (
  url: string,
  resolve = resolvingTo(PUBLIC),
  allow: readonly string[] = [],
  exempt: string[] = [],
) => {
  const proxy = { url, authorization: `Basic ${btoa(CREDENTIALS)}`, variable: 'https_proxy' };
  const ranges = allow.map(parseAddressRange).filter((range) => range !== null);
  return new SsrfGuard(ranges, { http: proxy, https: proxy, exempt }, resolve);
};

async function send(url: string, guard: SsrfGuard) {
  const tester = new WebhookTester({
    ...TESTER_MEANS,
    ...{ guard, secrets: [], timeZone: 'UTC', clock: new FakeClock(Date.now()) },
  });
  const rule = { id: 5, ...ruleFields(), createdAtMs: 0, updatedAtMs: 0 };
  const result = await tester.test(rule as never, url);
  expect(JSON.stringify(result)).not.toContain(btoa(CREDENTIALS));
  return result;
}

describe('a webhook', () => {
  it('goes by a tunnel to the address that was checked, and names the host to the receiver only', async () => {
    const receiving = await receiver();
    const proxy = await proxyTo(receiving.url, { credentials: CREDENTIALS });
    expect(await send(PLAIN, guardBehind(proxy.url))).toMatchObject({ delivered: true, status: 204 });
    expect(proxy.asked.map(({ method, target }) => [method, target])).toEqual([
      ['CONNECT', `${PUBLIC}:8080`],
    ]);
    expect(JSON.stringify(proxy.asked)).not.toContain('hooks.example');
    expect(receiving.requests).toMatchObject([
      { method: 'POST', path: '/T000', headers: { host: 'hooks.example:8080' } },
    ]);
    await waitFor(() => proxy.open() === 0, { what: 'the tunnel to be closed' });
  });

  it.each([
    [['10.0.0.1', PUBLIC], `${PUBLIC}:8080`],
    [['2606:4700::1111', PUBLIC], `${PUBLIC}:8080`],
    [['::1', '2606:4700::1111'], '[2606:4700::1111]:8080'],
  ])('the proxy of a name with the addresses %j is asked for %s', async (addresses, target) => {
    const receiving = await receiver();
    const proxy = await proxyTo(receiving.url);
    await send(PLAIN, guardBehind(proxy.url, resolvingTo(...addresses)));
    expect(proxy.asked.map((one) => one.target)).toEqual([target]);
    expect(receiving.requests).toHaveLength(1);
  });

  it.each([
    [
      ['203.1.113.1', PUBLIC],
      ['203.1.113.1:8080', `${PUBLIC}:8080`],
    ],
    [
      ['2606:4700::1111', '203.1.113.1'],
      ['203.1.113.1:8080', '[2606:4700::1111]:8080'],
    ],
  ])('goes to the next of the addresses %j when the proxy cannot connect', async (addresses, targets) => {
    const receiving = await receiver();
    const proxy = await proxyTo(receiving.url);
    const guard = guardBehind(proxy.url, resolvingTo(...addresses));
    expect(await send(PLAIN, guard)).toMatchObject({ delivered: true });
    expect(proxy.asked.map(({ target }) => target)).toEqual(targets);
    expect(receiving.requests).toHaveLength(1);
  });

  it('is asked for at one address only when the proxy refuses it', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = { refuse: 403 };
    await send(PLAIN, guardBehind(proxy.url, resolvingTo(PUBLIC, '2606:4700::1111')));
    expect(proxy.asked).toHaveLength(1);
  });

  it('is not sent to a receiver whose certificate is not trusted, or is for another name', async () => {
    const { cert, key } = new Authority().issue('DNS:hooks.example');
    const requests: unknown[] = [];
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request) => {
      requests.push(request.url);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const proxy = await proxyTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const { delivered, error } = await send(SECURE, guardBehind(proxy.url));
    expect([delivered, error]).toEqual([false, expect.stringMatching(/certificate/)]);
    expect(requests).toEqual([]);
    expect(proxy.asked).toMatchObject([{ target: `${PUBLIC}:443` }]);
    await waitFor(() => proxy.open() === 0, { what: 'the tunnel to be closed' });
  });

  it('follows no redirect', async () => {
    const receiving = await receiver(answer(302, '', { location: 'http://169.254.169.254/latest' }));
    const proxy = await proxyTo(receiving.url);
    expect(await send(PLAIN, guardBehind(proxy.url))).toMatchObject({ delivered: false, status: 302 });
    expect(proxy.asked).toHaveLength(1);
  });
});

describe('an address that is not public', () => {
  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    'localhost',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '[fd00::1]',
  ])('is never asked of the proxy: %s', async (host) => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    for (const scheme of ['http', 'https']) {
      const { error } = await send(`${scheme}://${host}/`, guardBehind(proxy.url));
      expect(error).toContain('is not a public address');
    }
    expect(proxy.asked).toEqual([]);
  });

  it.each([[['10.0.0.1']], [['::1', '127.0.0.1']], [['fd00::1', '169.254.169.254']]])(
    'is never asked of the proxy behind a name: %j',
    async (addresses) => {
      const proxy = await proxyTo('http://127.0.0.1:1');
      const { error } = await send(SECURE, guardBehind(proxy.url, resolvingTo(...addresses)));
      expect(error).toContain('is not a public address');
      expect(proxy.asked).toEqual([]);
    },
  );

  it('is asked of the proxy when webhooks.allow_cidrs has it', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    await send(SECURE, guardBehind(proxy.url, resolvingTo('10.0.0.1'), ['10.0.0.0/8']));
    expect(proxy.asked).toMatchObject([{ target: '10.0.0.1:443' }]);
  });

  it('is not reached by a name that changes its answer: one look-up, and what it gave is asked for', async () => {
    const receiving = await receiver();
    const proxy = await proxyTo(receiving.url);
    let lookUps = 0;
    const guard = guardBehind(proxy.url, (name, options, callback) => {
      lookUps += 1;
      resolvingTo(lookUps === 1 ? PUBLIC : '10.0.0.1')(name, options, callback);
    });
    await send(PLAIN, guard);
    expect([lookUps, proxy.asked.length, receiving.requests.length]).toEqual([1, 1, 1]);
    await send(PLAIN, guard);
    expect([lookUps, proxy.asked.length, receiving.requests.length]).toEqual([2, 1, 1]);
  });
});

describe('a name that this machine cannot resolve', () => {
  it('is not passed to the proxy, and the reason says what to do', async () => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    const { error } = await send(SECURE, guardBehind(proxy.url, unresolved));
    expect(error).toBe(
      `hooks.example cannot be resolved here (getaddrinfo ENOTFOUND hooks.example): its address is checked before proxy ${proxy.url} (https_proxy) may connect to it. Let this machine resolve it; docs/security.md has the other ways`,
    );
    expect(proxy.asked).toEqual([]);
  });

  it('is passed to the proxy where every address may be called', async () => {
    const receiving = await receiver();
    const proxy = await proxyTo(receiving.url);
    const all = ['0.0.0.0/0', '::/0'];
    expect(await send(PLAIN, guardBehind(proxy.url, unresolved, all))).toMatchObject({ delivered: true });
    expect(proxy.asked).toMatchObject([{ target: 'hooks.example:8080' }]);
    await send(PLAIN, guardBehind(proxy.url, unresolved, ['0.0.0.0/0']));
    expect(proxy.asked).toHaveLength(1);
  });
});

describe('a proxy that fails', () => {
  it.each([
    [407, /^proxy \S+ \(https_proxy\) answered HTTP 407 to CONNECT \S+: it does not accept the credentials/],
    [401, /^proxy \S+ \(https_proxy\) answered HTTP 401 to CONNECT \S+: it does not accept the credentials/],
    [403, /^proxy \S+ \(https_proxy\) answered HTTP 403 to CONNECT 93\.184\.215\.14:443$/],
    [502, /^proxy \S+ \(https_proxy\) answered HTTP 502 to CONNECT/],
  ])('is named when it answers HTTP %d', async (refuse, words) => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = { refuse };
    expect((await send(SECURE, guardBehind(proxy.url))).error).toMatch(words);
  });

  it('is named when it is not there', async () => {
    const at = `http://127.0.0.1:${await freePort()}`;
    const { error } = await send(SECURE, guardBehind(at));
    expect(error).toMatch(/^no tunnel by proxy \S+ \(https_proxy\): connect ECONNREFUSED/);
  });

  it.each(['the proxy', 'the look-up of the name'])('ends with the attempt when %s hangs', async (what) => {
    const proxy = await proxyTo('http://127.0.0.1:1');
    proxy.behaviour = 'hang';
    const guard = guardBehind(proxy.url, what === 'the proxy' ? resolvingTo(PUBLIC) : () => {});
    const stopped = new AbortController();
    const message = { url: SECURE, body: '{}', headers: {}, format: null };
    const call = callWebhook(message as never, guard, stopped.signal).catch((error: Error) => error);
    if (what === 'the proxy') await waitFor(() => proxy.asked.length === 1, { what: 'the CONNECT' });
    stopped.abort();
    expect(await call).toBeInstanceOf(Error);
    await waitFor(() => proxy.open() === 0, { what: 'the connection to be closed' });
  });
});

it('a receiver of NO_PROXY is called directly, and still guarded', async () => {
  const proxy = await proxyTo('http://127.0.0.1:1');
  const direct = await send(PLAIN, guardBehind(proxy.url, resolvingTo('10.0.0.1'), [], ['hooks.example']));
  expect(direct.error).toContain('is not a public address');
  expect(proxy.asked).toEqual([]);
});
