// `gateway simulate --profile`: every shipped profile can be served, and its client reads each answer well. Whatever a profile
// does not say is refused.

import { afterEach, describe, expect, it } from 'vitest';
import { SHIPPED_PROFILES } from '../../../../src/config/gateway/profile.ts';
import { loadSimulatedGateway } from '../../../../src/config/load-config.ts';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { GatewayConfig } from '../../../../src/domain/gateway/gateway-config.ts';
import { INTERFACE_NAMES, type InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../../src/gateway/simulate/simulator.ts';
import { probeProfile } from '../../../../src/gateway/trial/profile-probe.ts';
import { tryInterfaces } from '../../../../src/gateway/trial/trial.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';

const CREDENTIALS = {
  token: 'a token?',
  username: 'user',
  password: 'pass:word ü',
  clientId: 'id ü',
  clientSecret: 'sec&ret',
};
const AUTH = defaultsOf(SETTINGS.auth);
/** The simulator knows a card by what a call names it by, so its vendor id is its ICCID. */
const CARDS = [1, 2, 3].map((cardId) => ({
  cardId,
  iccid: demoIccid(cardId),
  vendorId: demoIccid(cardId),
  carrierId: 1,
  allowanceMb: null,
}));
const [CARD] = CARDS as [(typeof CARDS)[0]];
const calendar = new MonthCalendar('Asia/Shanghai');

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function simulate(profile: GatewayConfig, options: Partial<SimulatorOptions> = {}) {
  const simulator = await startSimulator({ host: '127.0.0.1', port: 0, profile, ...options });
  opened.push(() => simulator.close());
  // Without rate limits a first call may wait for its token.
  const config = { ...profile, url: simulator.url, rateLimits: [] };
  const client = new GatewayClient(config, {
    log: silentLogger(),
    clock: systemClock,
    calendar,
    proxies: NO_PROXIES,
  });
  opened.push(() => client.close());
  const call = (name: InterfaceName, card = CARD) =>
    // Under rate limits no call waits for its token.
    client
      .ready()
      .then(() => client.call(name, card, 5_000))
      .then(({ value }) => value)
      .catch((error: GatewayError) => error.failure);
  return { simulator, config, client, call };
}

const shipped = (name: string) => loadSimulatedGateway({ flags: { '--gateway-profile': name }, env: {} });
const made = (changes: Omit<GatewayChanges, 'url'>) =>
  gatewayConfig({ url: 'http://127.0.0.1:1', ...changes });
const counts = ({ stats }: Simulator) => stats().byInterface;

describe.each(SHIPPED_PROFILES.map(({ name }) => name))('%s', (name) => {
  it('is read well, stops a card and brings it back', async () => {
    const { auth, ...profile } = await shipped(name);
    const credentials = auth.kind === null ? {} : CREDENTIALS;
    const { config, call, simulator } = await simulate({ ...profile, auth, ...credentials });
    const trials = await tryInterfaces(config, null, CARD, {
      clock: systemClock,
      calendar,
      proxies: NO_PROXIES,
    });
    expect(trials.filter(({ ok }) => !ok)).toEqual([]);
    const offered = INTERFACE_NAMES.filter((each) => profile.interfaces[each] !== null);
    expect(trials.map(({ interface: tried }) => tried)).toEqual(
      offered.filter((each) => each !== 'stop' && each !== 'start'),
    );
    const running = await call('card_status');
    expect(await call('stop')).toBeNull();
    expect(profile.stoppedStatuses).toContain(await call('card_status'));
    expect(await call('start')).toBeNull();
    expect(await call('card_status')).toBe(running);
    expect(simulator.stats()).toMatchObject({ stops: { [CARD.iccid]: 1 }, starts: { [CARD.iccid]: 1 } });
    const { stop, start, flow, card_status: status } = counts(simulator);
    // Where one call has usage and status, it counts as one of them.
    expect({ stop, start, read: flow + status }).toEqual({ stop: 1, start: 1, read: 5 });
  });

  it('answers for an unknown card, other credentials and too many calls as the profile reads them', async () => {
    const { auth, ...profile } = await shipped(name);
    const known = { ...profile, auth, ...(auth.kind === null ? { token: 'secret' } : CREDENTIALS) };
    const { call, config, simulator } = await simulate(known, { cards: 1 });
    await call('card_status');
    expect(await call('card_status', CARDS[1])).toMatch(/^(card|business)$/);
    const others = { token: 'no', username: 'no', password: 'no', clientId: 'no', clientSecret: 'no' };
    const stranger = new GatewayClient(
      { ...config, ...others },
      { log: silentLogger(), clock: systemClock, calendar, proxies: NO_PROXIES },
    );
    opened.push(() => stranger.close());
    await expect(stranger.call('card_status', CARD, 5_000)).rejects.toMatchObject({ failure: 'auth' });
    simulator.setCapacity(0);
    expect(await call('card_status')).toBe('backpressure');
  });
});

it('is probed well by the doctor, with its tokens and rate limits', async () => {
  const profile = { ...(await shipped('1nce')), ...CREDENTIALS };
  const { simulator } = await simulate(profile);
  const results = await probeProfile({ ...profile, url: simulator.url }, CARDS, {
    clock: systemClock,
    calendar,
    proxies: NO_PROXIES,
  });
  expect(results.map(({ status }) => status)).toEqual(['ok', 'ok']);
});

it('answers batches without the cards that it does not know, and refuses one that is too large', async () => {
  const profile = await shipped('onelink-batch');
  const { client, simulator } = await simulate({ ...profile, ...CREDENTIALS }, { cards: 2 });
  const [first, second, third] = await client.callBatch('flow', CARDS, 5_000);
  expect([first, second]).toEqual([
    { value: expect.any(Number), durationMs: expect.any(Number) },
    { value: expect.any(Number), durationMs: expect.any(Number) },
  ]);
  expect(third).toMatchObject({ failure: 'card' });
  expect(counts(simulator)).toMatchObject({ flow: 1 });
  const many = Array.from({ length: 101 }, (_, i) => ({ cardId: i, iccid: demoIccid(i), carrierId: 1 }));
  await expect(client.callBatch('flow', many, 5_000)).rejects.toBeInstanceOf(GatewayError);
});

it.each([
  ['bearer', { auth: { ...AUTH, kind: 'bearer' }, token: 'a' }],
  ['basic', { auth: { ...AUTH, kind: 'basic' }, username: 'a', password: 'b' }],
  ['header', { auth: { ...AUTH, kind: 'header', name: 'X-Key' }, token: 'a' }],
  ['query', { auth: { ...AUTH, kind: 'query', name: 'key' }, token: 'a' }],
  ['hmac', { auth: { ...AUTH, kind: 'hmac' }, hmacKey: 'a' }],
  [
    'oauth2',
    { auth: { ...AUTH, kind: 'oauth2', tokenUrl: '/t', scope: 's' }, clientId: 'a', clientSecret: 'b' },
  ],
  [
    'oauth2 in the body',
    {
      auth: { ...AUTH, kind: 'oauth2', tokenUrl: '/t', clientAuth: 'body' },
      clientId: 'a',
      clientSecret: 'b',
    },
  ],
  [
    'login',
    {
      auth: {
        ...AUTH,
        kind: 'login',
        request: {
          method: 'POST',
          url: null,
          path: '/session',
          query: { n: '{sequence}' },
          headers: { 'X-App': '{client_id}' },
          body: { user: { name: '{username}', pass: '{password}' }, at: '{timestamp}' },
          bodyText: null,
          form: null,
        },
        token: 'data.session',
        goodFor: 60,
        send: { in: 'header', name: 'X-Session', scheme: null },
      },
      username: 'a',
      password: 'b',
      clientId: 'c',
    },
  ],
] as const)('accepts any credentials of kind %s if it has none, and none without', async (_, changes) => {
  const unset = {
    token: null,
    username: null,
    password: null,
    clientId: null,
    clientSecret: null,
    hmacKey: null,
  };
  const { simulator, config } = await simulate(made({ ...changes, ...unset }));
  const deps = { log: silentLogger(), clock: systemClock, calendar, proxies: NO_PROXIES };
  const client = new GatewayClient({ ...config, ...changes }, deps);
  opened.push(() => client.close());
  await expect(client.call('flow', CARD, 5_000)).resolves.toMatchObject({ value: expect.any(Number) });
  const bare = await fetch(`${simulator.url}/card/flow`, { method: 'POST', body: '{"iccid":"1"}' });
  expect(bare.status).toBe(401);
});

it('serves usage and state of one call together', async () => {
  const card = { method: 'GET', path: '/card/{iccid}?full=1', body: null, query: {} } as const;
  const { call } = await simulate(
    made({
      interfaces: {
        flow: { ...card, reading: { kind: 'megabytes', value: 'cards[1].used', unit: 'GiB' } },
        card_status: { ...card, reading: { kind: 'status', value: 'cards[0].state' } },
        realname: { ...card, reading: { kind: 'verified', value: 'real', trueValues: ['0', '1'] } },
      },
    }),
  );
  expect(await call('flow')).toEqual(expect.any(Number));
  expect([await call('card_status'), await call('realname')]).toEqual(['active', expect.any(Boolean)]);
});

it('understands a call whatever the order of parameters and fields, and each place of a card only once', async () => {
  const call = { method: 'POST', path: '/a/{iccid}/b', query: { x: '{iccid}', y: '1' } } as const;
  const { simulator } = await simulate(
    made({
      interfaces: {
        flow: { ...call, body: { a: { id: '{iccid}', n: 1 }, b: ['.'] } },
        stop: { ...call, path: '/stop', body: null, form: { a: '{iccid}', b: '2' } },
      },
    }),
  );
  const status = async (path: string, body: string) =>
    (await fetch(simulator.url + path, { method: 'POST', body })).status;
  const json = '{ "b": ["."], "a": { "n": 1, "id": "7" } }';
  expect(await status('/a/7/b?y=1&x=7', json)).toBe(200);
  expect(await status('/stop?y=1&x=7', 'b=2&a=7')).toBe(200);
  expect(await status('/a/7/b?y=1&x=8', json)).toBe(400);
  expect(await status('/a/7/b?y=1&x=7', json.replace('.', '-'))).toBe(400);
  expect(await status('/a/7/b?y=1&x=7', '['.repeat(30_000) + ']'.repeat(30_000))).toBe(400);
  expect(await status('/a/7/7/b?y=1&x=7', json)).toBe(404);
});

it.each([
  [404, 'another path', 'GET', '/nothing', undefined],
  [404, 'another method', 'GET', '/card/flow', undefined],
  [400, 'another field', 'POST', '/card/flow', '{"card":"1"}'],
  [400, 'one field more', 'POST', '/card/flow', '{"iccid":"1","b":2}'],
  [400, 'a parameter', 'POST', '/card/flow?a=1', '{"iccid":"1"}'],
  [400, 'no JSON', 'POST', '/card/flow', 'iccid=1'],
  [400, 'no text', 'POST', '/card/flow', '{"iccid":1}'],
] as const)('answers %d to %s, with the calls of the profile', async (status, _, method, path, body) => {
  const { simulator } = await simulate(made({}));
  const answer = await fetch(simulator.url + path, { method, ...(body === undefined ? {} : { body }) });
  expect([answer.status, await answer.json()]).toEqual([
    status,
    { problem: expect.stringContaining('is no call of the profile'), calls: expect.any(Array) },
  ]);
  expect(simulator.stats()).toMatchObject({ inFlight: 0, byInterface: { flow: 0 } });
});
