// Whether a gateway speaks the profile: gateways that do, real sockets that do not. And what the doctor advises.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { startSimulator } from '../../../../src/gateway/simulate/simulator.ts';
import { probeProfile } from '../../../../src/gateway/trial/profile-probe.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type BadGateway, startBadGateway } from '../../../support/bad-gateway.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';
import { tlsPair } from '../../../support/tls-pair.ts';

const CARDS = [1, 2].map((cardId) => ({
  cardId,
  iccid: `898600000000000000${cardId}`,
  carrierId: 0,
  allowanceMb: 500,
}));
const CALENDAR = new MonthCalendar('Asia/Shanghai');
const GOOD = [200, '{"code":200,"data":{"realStatus":true,"used":1,"cardStatus":"active"}}'] as const;
const BROKEN = [500, ''] as const;
const FAILING_MODULE = {
  name: 'ours.mjs',
  sign: () => {
    throw new Error('no key');
  },
  read: null,
};
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function probe(url: string, cards = CARDS, changes: Omit<GatewayChanges, 'url'> = {}) {
  const results = await probeProfile(gatewayConfig({ url, ...changes }), cards, {
    clock: systemClock,
    calendar: CALENDAR,
    proxies: NO_PROXIES,
  });
  expect(results.map(({ check }) => check)).toEqual([
    'gateway realname',
    'gateway flow',
    'gateway card_status',
  ]);
  return { statuses: [...new Set(results.map(({ status }) => status))], results };
}

async function bad(status: number, body: string): Promise<BadGateway> {
  const gateway = await startBadGateway(answer(status, body));
  open.push(gateway);
  return gateway;
}

it('a gateway that speaks it; nothing is stopped', async () => {
  const simulator = await startSimulator({ host: '127.0.0.1', port: 0 });
  open.push(simulator);
  const { statuses, results } = await probe(simulator.url);
  expect(statuses).toEqual(['ok']);
  expect(results[1]?.detail).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/card\/flow: answers in [\d.]+ ms$/);
  const stats = (await (await fetch(`${simulator.url}/stats`)).json()) as Record<string, unknown>;
  expect(stats).toMatchObject({ requests: 3, stops: {}, by_interface: { stop: 0, start: 0 } });
});

it('a gateway that is slower than usual: two calls say so, and a usual one does not', async () => {
  const simulator = await startSimulator({ host: '127.0.0.1', port: 0, latencyMs: 200 });
  open.push(simulator);
  const means = { clock: systemClock, calendar: CALENDAR, proxies: NO_PROXIES };
  const usual = { realname: 0.1, flow: 100_000 };
  const [realname, flow] = await probeProfile(gatewayConfig({ url: simulator.url }), CARDS, means, usual);
  expect(realname).toMatchObject({ status: 'warning', detail: expect.stringMatching(/ ms, usually 0 ms$/) });
  expect(flow).toMatchObject({ status: 'ok' });
  expect(await (await fetch(`${simulator.url}/stats`)).json()).toMatchObject({
    by_interface: { realname: 2, flow: 1 },
  });
});

it.each([
  [500, 'warning', /^card 1 has an allowance of 500 MB and a total of 0\.5 MB .* never stopped$/],
  [0.4, 'ok', /^card 1 has an allowance of 0\.4 MB and a total of 0\.5 MB at the gateway$/],
  [0.5, 'warning', /never over its package/],
])(
  'a gateway that says what remains of a total: an allowance of %s MB is compared with it',
  async (allowanceMb, status, detail) => {
    const cards = [{ ...CARDS[0], allowanceMb }] as typeof CARDS;
    for (const batch of [null, { size: 2, items: 'data.list', iccid: 'iccid', join: ',' }]) {
      const one = `{"iccid":"${CARDS[0]?.iccid}","realStatus":true,"cardStatus":"active","left":200,"all":500}`;
      const gateway = await bad(
        200,
        `{"code":200,"data":{"realStatus":true,"cardStatus":"active","list":[${one}],"left":200,"all":500}}`,
      );
      const at = batch === null ? 'data.' : '';
      const flow = {
        reading: { kind: 'remainder', remaining: `${at}left`, total: `${at}all`, unit: 'KB' },
        batch,
      } as const;
      const results = await probeProfile(gatewayConfig({ url: gateway.url, interfaces: { flow } }), cards, {
        clock: systemClock,
        calendar: CALENDAR,
        proxies: NO_PROXIES,
      });
      expect(results.find(({ check }) => check === 'gateway flow')?.status).toBe('ok');
      expect(results.find(({ check }) => check === 'gateway totals')).toMatchObject({
        status,
        detail: expect.stringMatching(detail),
      });
    }
  },
);

it('a gateway that does not know the first card is asked about the next', async () => {
  const gateway = await startBadGateway((socket, request) =>
    answer(
      200,
      request.body.includes('"8986000000000000001"')
        ? '{"code":404,"msg":"no such card"}'
        : '{"code":200,"data":{"realStatus":true,"used":1,"cardStatus":"active"}}',
    )(socket, request),
  );
  open.push(gateway);
  expect((await probe(gateway.url)).statuses).toEqual(['ok']);
});

it.each([
  [404, '<html>', 'failed', 'unknown'],
  [200, '<html>', 'failed', 'failed'],
  [401, '', 'failed', 'failed'],
  [503, '', 'warning', 'warning'],
  [200, '{"code":404,"msg":"no such card"}', 'warning', 'ok'],
])('HTTP %i %j: %s for cards of the fleet, %s before there are any', async (status, body, known, unknown) => {
  const { url } = await bad(status, body);
  expect((await probe(url)).statuses).toEqual([known]);
  expect((await probe(url, [])).statuses).toEqual([unknown]);
});

it('nothing that listens', async () => {
  const { url, close } = await startBadGateway(answer(200, ''));
  await close();
  const { statuses, results } = await probe(url);
  expect(statuses).toEqual(['failed']);
  expect(results[0]).toMatchObject({
    detail: expect.stringMatching(/: connect ECONNREFUSED/),
    hint: expect.stringMatching(/^(?!.*credential).*is the gateway running/),
    command: `curl -siv ${url}`,
  });
});

/** Answers with what is next in the list for each interface, the last of it again and again. */
async function inTurn(...answers: readonly (readonly [number, string])[]) {
  const calls = new Map<string, number>();
  const gateway = await startBadGateway((socket, request) => {
    const count = calls.get(request.path) ?? 0;
    calls.set(request.path, count + 1);
    const [status, body] = answers[Math.min(count, answers.length - 1)] ?? [500, ''];
    answer(status, body)(socket, request);
  });
  open.push(gateway);
  return { url: gateway.url, calls };
}

it.each([
  ['one failed call', [BROKEN, GOOD], 'warning', /: 1 of 4 calls failed: .*500/, 4],
  ['two of five', [BROKEN, GOOD, BROKEN, GOOD], 'warning', /: 2 of 5 calls failed: .*500/, 5],
  ['three failed calls', [BROKEN, GOOD, BROKEN, BROKEN], 'failed', /card_?\/?\w*: .*500/, 4],
  ['one good call', [GOOD], 'ok', /answers in/, 1],
] as const)('after %s the verdict is made by most calls', async (_, answers, status, detail, count) => {
  const { url, calls } = await inTurn(...answers);
  const { statuses, results } = await probe(url);
  expect(statuses).toEqual([status]);
  expect(results[0]?.detail).toMatch(detail);
  expect([...calls.values()]).toEqual([count, count, count]);
});

describe('the advice', () => {
  it.each<[string, Omit<GatewayChanges, 'url'>, RegExp]>([
    [
      'leads to the token server when there is no token',
      {
        auth: { ...defaultsOf(SETTINGS.auth), kind: 'oauth2', tokenUrl: '/token' },
        clientId: 'a',
        clientSecret: 'b',
      },
      /gateway\.auth\.token_url/,
    ],
    ['leads to the module that fails', { module: FAILING_MODULE }, /gateway\.module/],
  ])('%s', async (_, changes, hint) => {
    const { url } = await bad(500, '');
    const [finding] = (await probe(url, CARDS, changes)).results;
    expect(finding).toMatchObject({
      status: 'failed',
      hint: expect.stringMatching(hint),
      command: 'cardpoll gateway try --iccid 8986000000000000001',
    });
  });

  it.each([
    ['names credentials when they are refused', 401, '', /credentials/, 'curl'],
    [
      'leads to the limits for calls that are refused',
      429,
      '',
      /more than it can take/,
      'cardpoll concurrency advise',
    ],
    ['leads to the profile for answers in another form', 200, '<html>', /gateway\.interfaces/, 'curl'],
  ])('%s', async (_, code, body, hint, command) => {
    const { url } = await bad(code, body);
    const [finding] = (await probe(url)).results;
    expect([finding?.hint, finding?.command]).toEqual([
      expect.stringMatching(hint),
      command === 'curl' ? `curl -siv ${url}` : command,
    ]);
  });
});

it('does not doubt that a gateway runs whose certificate is not trusted', async () => {
  const server = createServer(tlsPair('first'), (_, response) => response.end('{}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: async () => void server.close() });
  const { port } = server.address() as AddressInfo;
  const { results } = await probe(`https://127.0.0.1:${port}`);
  expect(results[0]).toMatchObject({ status: 'failed', hint: expect.stringContaining('its certificate') });
});
