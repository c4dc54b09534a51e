// Connections that are kept for calls with an effect, on real sockets: who gets one, and that nothing is sent later than a second
// after it.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import type { GatewayError } from '../../../../src/gateway/gateway.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type BadGateway, startBadGateway } from '../../../support/bad-gateway.ts';
import { gatewayConfig } from '../../../support/gateway-config.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const LONG_MS = 60_000;

let aheadMs = 0;
const opened: Array<() => unknown> = [];
afterEach(async () => {
  aheadMs = 0;
  for (const close of opened.splice(0).reverse()) await close();
});

function clientOf(url: string): GatewayClient {
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  const profile = { ...gatewayConfig({ url, timeoutMs: LONG_MS }), maxConnections: 1 };
  const calendar = new MonthCalendar('Asia/Shanghai');
  const client = new GatewayClient(profile, {
    log: pino({ enabled: false }),
    clock,
    calendar,
    proxies: NO_PROXIES,
  });
  opened.push(() => client.close());
  return client;
}

/** A gateway that answers a call when it is told to, and its client with one connection. */
async function gated() {
  const answers: Array<() => void> = [];
  const gateway: BadGateway = await startBadGateway((socket, request) => {
    const used = '{"code":200,"msg":"ok","data":{"used":1}}';
    answers.push(() => answer(200, used)(socket, request));
  });
  opened.push(() => gateway.close());
  const paths = () => gateway.requests.map(({ path }) => path?.split('/').pop());
  return { client: clientOf(gateway.url), answers, paths };
}

const ended = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: GatewayError) => error.failure,
  );
const arrived = (paths: () => unknown[], calls: number) =>
  expect.poll(() => paths().length, { interval: 5 }).toBe(calls);

it('a call with an effect gets the next connection, before the calls that wait for one', async () => {
  const { client, answers, paths } = await gated();
  const polls = [1, 2].map((cardId) => ended(client.call('flow', { ...CARD, cardId }, LONG_MS)));
  await arrived(paths, 1);
  const gathered = client.gather('stop', LONG_MS);
  answers[0]?.();
  const stop = ended(client.call('stop', CARD, LONG_MS, await gathered));
  await arrived(paths, 2);
  answers[1]?.();
  await arrived(paths, 3);
  answers[2]?.();
  expect([await Promise.all(polls), await stop]).toEqual([['answered', 'answered'], 'answered']);
  expect(paths()[0]).toBe(paths()[2]);
  expect(paths()[1]).not.toBe(paths()[0]);
});

it('a connection that is given back serves the call that waits', async () => {
  const { client, answers, paths } = await gated();
  const pass = await client.gather('stop', LONG_MS);
  const poll = ended(client.call('flow', CARD, LONG_MS));
  pass.giveBack();
  pass.giveBack();
  await arrived(paths, 1);
  answers[0]?.();
  expect(await poll).toBe('answered');
});

it('none is free in time: nothing is claimed for a call', async () => {
  const { client, answers, paths } = await gated();
  const poll = ended(client.call('flow', CARD, LONG_MS));
  await arrived(paths, 1);
  expect(await ended(client.gather('stop', 20))).toBe('held');
  const waiting = new AbortController();
  const aborted = ended(client.gather('stop', Number.POSITIVE_INFINITY, waiting));
  waiting.abort();
  answers[0]?.();
  await poll;
  await aborted;
});

it('a process that is paused after it has gathered sends nothing', async () => {
  const { client, answers, paths } = await gated();
  const pass = await client.gather('stop', LONG_MS);
  aheadMs = 1_000;
  const call = client.call('stop', CARD, LONG_MS, pass);
  await expect(call).rejects.toMatchObject({ failure: 'held', isRefusal: true });
  const poll = ended(client.call('flow', CARD, LONG_MS));
  await arrived(paths, 1);
  answers[0]?.();
  expect([await poll, paths().length]).toEqual(['answered', 1]);
});

it('a connection that takes longer than a second to be made sends no call with an effect', async () => {
  // It accepts, and never answers the first words of TLS.
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => server.close());
  const client = clientOf(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const call = client.call('stop', CARD, LONG_MS, await client.gather('stop', LONG_MS));
  aheadMs = 1_000;
  await expect(call).rejects.toMatchObject({ failure: 'held', isRefusal: true });
});
