// Requests by profile: where the card goes, what may not leave its place, how a gateway receives credentials, and how these are
// masked in what it says.

import { createHmac } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/config/settings/settings.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { GatewayInterface } from '../../../../src/domain/gateway/gateway-config.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { requestMaker } from '../../../../src/gateway/request/card-request.ts';
import { maskFor, prover, withProof } from '../../../../src/gateway/request/request.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type ReceivedRequest, startBadGateway } from '../../../support/bad-gateway.ts';
import { defaultsOf, type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';

const NEW_YEAR_IN_SHANGHAI = Date.UTC(2026, 11, 31, 16, 30);
const CARD = { cardId: 42, iccid: '89860000000000000042', carrierId: 7 };

function make(call: Partial<GatewayInterface>, cards: [typeof CARD, ...(typeof CARD)[]] = [CARD]) {
  const full: GatewayInterface = {
    method: 'GET',
    path: '/',
    query: {},
    headers: {},
    body: null,
    bodyText: null,
    form: null,
    timeoutMs: null,
    reading: null,
    batch: null,
    find: null,
    iccidValue: null,
    pending: null,
    ...call,
  };
  const calendar = new MonthCalendar('Asia/Shanghai');
  const profile = gatewayConfig({
    url: 'http://gateway.example/tenant',
    username: 'app/7',
    clientId: 'fleet',
  });
  return requestMaker(full, profile, calendar)(cards, NEW_YEAR_IN_SHANGHAI);
}

it('puts the card into path, query and headers', () => {
  const request = make({
    path: '/devices/{iccid}/usage?fixed=1',
    query: { carrier: '{carrier_id}', 'a b': 'x&{card_id}', month: '{month}', on: '{date}' },
    headers: { 'X-Card': 'card {iccid}' },
  });
  expect(request.path).toBe(
    '/tenant/devices/89860000000000000042/usage?fixed=1&carrier=7&a%20b=x%2642&month=2027-01&on=2027-01-01',
  );
  expect(request.headers.slice(-2)).toEqual(['x-card', 'card 89860000000000000042']);
  expect([request.method, request.body]).toEqual(['GET', null]);
  expect(request.headers).not.toContain('content-type');
});

it('has the time in the zone of the fleet, and what the gateway calls the operator', () => {
  const { path, body, headers } = make({
    method: 'POST',
    path: '/{username}/{timestamp}',
    query: { s: '{epoch}', ms: '{epoch_ms}', id: '{client_id}{timestamp}' },
    headers: { 'X-At': '{timestamp}' },
    body: { iccid: '{iccid}', at: '{timestamp}', list: ['{epoch}'] },
  });
  expect(path).toBe('/tenant/app%2F7/20270101003000?s=1798734600&ms=1798734600000&id=fleet20270101003000');
  expect(headers).toContain('20270101003000');
  expect(JSON.parse(body ?? '')).toEqual({ iccid: CARD.iccid, at: '20270101003000', list: ['1798734600'] });
});

it('gives each request a new number, the same everywhere in it', () => {
  const numbered = () => {
    const { path, headers, body } = make({
      method: 'POST',
      path: '/{sequence}',
      query: { of: '{uuid}' },
      headers: { 'X-Number': '{sequence}' },
      form: { of: '{uuid}', number: '{sequence}', card: '{iccid}' },
    });
    const [, inPath = '', inQuery = ''] = /^\/tenant\/(\d{8})\?of=([0-9a-f-]{36})$/.exec(path) ?? [];
    expect(headers.at(-1)).toBe(inPath);
    expect(body).toBe(`of=${inQuery}&number=${inPath}&card=${CARD.iccid}`);
    return [inPath, inQuery];
  };
  const all = Array.from({ length: 1_000 }, numbered);
  const numbers = all.map(([number]) => Number(number));
  expect(new Set(all.map(([, uuid]) => uuid)).size).toBe(1_000);
  // One after the other, and 0 after the last.
  for (const [i, number] of numbers.slice(1).entries())
    expect(number).toBe(((numbers[i] as number) + 1) % 1e8);
});

it('sends a header of the profile in place of its own', () => {
  const { headers } = make({ headers: { Accept: 'application/vnd.sim+json', 'User-Agent': 'fleet' } });
  expect(headers).toEqual([
    ...['accept-encoding', 'gzip, deflate, br'],
    ...['accept', 'application/vnd.sim+json', 'user-agent', 'fleet'],
  ]);
});

it('puts the card into a JSON body or a form', () => {
  const body = {
    cmd: 'usage',
    params: [{ cardNo: '{iccid}', n: 1, deep: { of: '{carrier_id}-{card_id}' } }],
  };
  const json = make({ method: 'POST', body });
  expect(JSON.parse(json.body ?? '')).toEqual({
    cmd: 'usage',
    params: [{ cardNo: CARD.iccid, n: 1, deep: { of: '7-42' } }],
  });
  expect(json.headers.slice(-2)).toEqual(['content-type', 'application/json']);
  const form = make({ method: 'POST', form: { cardNo: '{iccid}', cmd: 'a b' } });
  expect(form.body).toBe(`cardNo=${CARD.iccid}&cmd=a%20b`);
  expect(form.headers.slice(-2)).toEqual(['content-type', 'application/x-www-form-urlencoded']);
});

it('names many cards as a list in JSON, and joined by commas elsewhere', () => {
  const cards: [typeof CARD, typeof CARD] = [CARD, { ...CARD, iccid: '2' }];
  expect(make({ method: 'POST', body: { list: '{iccids}', text: 'of {iccids}' } }, cards).body).toBe(
    '{"list":["89860000000000000042","2"],"text":"of 89860000000000000042,2"}',
  );
  expect(make({ query: { ids: '{iccids}' } }, cards).path).toBe('/tenant/?ids=89860000000000000042,2');
});

it.each(['../../admin', '1/stop?x=', 'a b', '1"2', '1\\', '卡', '1\r\nx: y', '%2e'])(
  'keeps a card number like %j in its place',
  (iccid) => {
    const card = { ...CARD, iccid };
    const path = make({ path: '/d/{iccid}/u', query: { id: '{iccid}' } }, [card]).path;
    expect(path).toBe(`/tenant/d/${encodeURIComponent(iccid)}/u?id=${encodeURIComponent(iccid)}`);
    const body = make({ method: 'POST', body: { id: '{iccid}' } }, [card]).body ?? '';
    expect(JSON.parse(body)).toEqual({ id: iccid });
    for (const header of make({ headers: { card: '{iccid}' } }, [card]).headers) {
      expect(header).toMatch(/^[\x20-\x7e]*$/);
    }
  },
);

describe('credentials that do not change', () => {
  const card = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
  const AUTH = defaultsOf(SETTINGS.auth);
  const ODD = 'pä:ss wörd&x=1%#?';

  const opened: Array<() => Promise<void>> = [];
  let log = '';
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
    expect(log).toContain('网关调用');
    for (const secret of [ODD, encodeURIComponent(ODD), 'tok-1', btoa('user')])
      expect(log).not.toContain(secret);
  });

  function addToLog(line: string): void {
    log += line;
  }

  async function open(changes: Omit<GatewayChanges, 'url'>, status = 200) {
    const gateway = await startBadGateway(answer(status, '{"code":200,"data":{"used":1}}'));
    opened.push(() => gateway.close());
    log = '';
    const lines = pino({ base: null }, { write: addToLog });
    const profile = gatewayConfig({ url: gateway.url, ...changes });
    const client = new GatewayClient(profile, {
      log: lines,
      clock: systemClock,
      calendar: new MonthCalendar('Asia/Shanghai'),
      proxies: NO_PROXIES,
    });
    opened.push(() => client.close());
    return { gateway, client, profile };
  }

  async function received(changes: Omit<GatewayChanges, 'url'>, status = 200): Promise<ReceivedRequest> {
    const { gateway, client } = await open(changes, status);
    await client.call('flow', card, 60_000).catch(() => {});
    const [request] = gateway.requests;
    expect(gateway.requests).toHaveLength(1);
    return request as ReceivedRequest;
  }

  it('none: nothing', async () => {
    const { path, headers } = await received({ auth: { ...AUTH, kind: 'none' } });
    expect(path).toBe('/card/flow');
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
  });

  it('bearer, which a token alone means as well', async () => {
    for (const kind of ['bearer', null] as const) {
      const { headers } = await received({ token: 'tok-1', auth: { ...AUTH, kind } });
      expect(headers.authorization).toBe('Bearer tok-1');
    }
  });

  it.each([200, 401, 500])('basic, in UTF-8, also when the answer is %d', async (status) => {
    const basic = { username: 'user', password: ODD, auth: { ...AUTH, kind: 'basic' as const } };
    const { headers } = await received(basic, status);
    const [scheme, encoded = ''] = headers.authorization?.split(' ') ?? [];
    expect([scheme, Buffer.from(encoded, 'base64').toString()]).toEqual(['Basic', `user:${ODD}`]);
  });

  it('header', async () => {
    const { headers } = await received({
      token: 'tok-1',
      auth: { ...AUTH, kind: 'header', name: 'X-Api-Key' },
    });
    expect([headers['x-api-key'], headers.authorization]).toEqual(['tok-1', undefined]);
  });

  it('query, after the parameters of the profile', async () => {
    const flow = { method: 'GET', path: '/flow', query: { iccid: '{iccid}' }, body: null } as const;
    const auth = { ...AUTH, kind: 'query', name: 'api-key' } as const;
    const { path } = await received({ token: ODD, auth, interfaces: { flow } });
    const { pathname, searchParams } = new URL(path, 'http://gateway');
    expect(pathname).toBe('/flow');
    expect([...searchParams]).toEqual([
      ['iccid', card.iccid],
      ['api-key', ODD],
    ]);
  });

  it('query, for a call without other parameters', async () => {
    const { path } = await received({ token: 'tok-1', auth: { ...AUTH, kind: 'query', name: 'token' } });
    expect(path).toBe('/card/flow?token=tok-1');
  });

  it.each(['hmac', 'basic'] as const)(
    'hmac signs what is sent, credentials in the path included: kind %s',
    async (kind) => {
      const changes = kind === 'basic' ? { username: 'user', password: ODD } : {};
      const { method, path, headers, body } = await received({
        ...changes,
        hmacKey: 'shared-key',
        auth: { ...AUTH, kind },
      });
      const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-cardpoll-signature'] ?? '') ?? [];
      const signed = createHmac('sha256', 'shared-key')
        .update(`${t}.${method}.${path}.${body}`)
        .digest('hex');
      expect(v1).toBe(signed);
    },
  );

  it('may be replaced: the next call has the new ones', async () => {
    const { gateway, client, profile } = await open({ token: 'tok-1' });
    await client.call('flow', card, 60_000);
    client.replaceCredentials(profile);
    await client.call('flow', card, 60_000);
    client.replaceCredentials({ ...profile, token: 'tok-2', hmacKey: 'key' });
    await client.call('flow', card, 60_000);
    expect(
      gateway.requests.map(({ headers }) => [headers.authorization, 'x-cardpoll-signature' in headers]),
    ).toEqual([
      ['Bearer tok-1', false],
      ['Bearer tok-1', false],
      ['Bearer tok-2', true],
    ]);
  });
});

describe('a mask', () => {
  const TOKEN = 'sk_live/0123456789';
  const config = gatewayConfig({
    url: 'http://gateway',
    token: TOKEN,
    username: 'fleet',
    password: 'pass word 1',
  });

  it.each([
    ['a token', `token ${TOKEN} expired`, 'token *** expired'],
    ['a token of a query', `no ?key=${encodeURIComponent(TOKEN)}`, 'no ?key=***'],
    [
      'user and password',
      `Basic ${Buffer.from('fleet:pass word 1').toString('base64')} is bad`,
      'Basic *** is bad',
    ],
    ['a token that the call carried', 'granted-token is old', '*** is old'],
    ['nothing else', 'fleet is not known', 'fleet is not known'],
  ])('masks %s', (_what, said, shown) => {
    const granted = { headers: ['authorization', 'Bearer granted-token'], query: '' };
    expect(maskFor(config, withProof(make({}), granted), NO_PROXIES)(said)).toBe(shown);
  });

  it('leaves text alone that happens to have a short secret in it', () => {
    expect(
      maskFor(
        gatewayConfig({ url: 'http://gateway', token: 'card' }),
        null,
        NO_PROXIES,
      )('this card is not known'),
    ).toBe('this card is not known');
  });
});

it('a prover puts together what another proof or other headers need, and does not mix requests up', () => {
  const prove = prover();
  const fixed = { headers: ['authorization', 'Bearer one'], query: '' };
  const renewed = { headers: ['authorization', 'Bearer two'], query: 'key=three' };
  const [plain, other] = [make({ path: '/usage/{iccid}' }), make({ path: '/status', method: 'POST' })];
  const varying = () => make({ headers: { 'X-Card': '{iccid}', authorization: 'of the profile' } });
  const rounds = [plain, plain, varying(), other, varying(), plain];
  for (const proof of [fixed, fixed, renewed, fixed])
    for (const request of rounds) expect(prove(request, proof)).toEqual(withProof(request, proof));
  expect(prove(plain, fixed).headers).toBe(prove({ ...plain, path: '/usage/2' }, fixed).headers);
  expect(plain.headers).not.toContain('authorization');
});
