// A module of the operator's own: what it gets, what it may add and answer, and that nothing it does wrong reaches further than
// the call. Loaded from real files, called by the real client.
import { createHash, createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import type { GatewayError } from '../../../../src/gateway/gateway.ts';
import { tryInterfaces } from '../../../../src/gateway/trial/trial.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { messageOf } from '../../../../src/platform/errors.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, startBadGateway } from '../../../support/bad-gateway.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const KEY = 'signing-key-of-the-vendor';
const TOKEN = 'token-that-no-module-sees';
const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const INTERFACES = `
  interfaces:
    flow: { method: GET, path: /flow, query: { b: "{iccid}", a: x y } }
    card_status: { method: POST, path: /status, body: { iccid: "{iccid}" }, value: status }
    realname: { enabled: false }
    stop: { enabled: false }
    start: { enabled: false }
`;

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function files(source: string, mode = 0o644): { readonly config: string; readonly module: string } {
  const directory = temporaryDirectory('module');
  const module = join(directory, 'ours.mjs');
  writeFileSync(module, source);
  chmodSync(module, mode);
  const config = join(directory, 'cardpoll.yaml');
  // Only a module that reads may do without a place in the profile.
  const reads = /\bread\(/.test(source);
  const interfaces = reads ? INTERFACES : INTERFACES.replace('a: x y }', 'a: x y }, value: used');
  writeFileSync(config, `gateway:\n  module: ./ours.mjs\n  success: {}\n${interfaces}`);
  return { config, module };
}

async function load(config: string, url = 'http://127.0.0.1:1') {
  const env = { CARDPOLL_GATEWAY_HMAC_KEY: KEY, CARDPOLL_GATEWAY_TOKEN: TOKEN };
  const flags = { '--gateway-url': url, '--config': config };
  return (await loadGatewayConfig({ flags, env })).gateway;
}

async function started(source: string, body = '{"status":"ON"}', log = silentLogger()) {
  const gateway = await startBadGateway(answer(200, body));
  opened.push(() => gateway.close());
  const config = await load(files(source).config, gateway.url);
  const deps = { log, clock: systemClock, calendar: new MonthCalendar('UTC'), proxies: NO_PROXIES };
  const client = new GatewayClient(config, deps);
  opened.push(() => client.close());
  const call = (name: 'flow' | 'card_status') =>
    client.call(name, CARD, 5_000).then(
      ({ value }) => ({ value }),
      ({ failure, message }: GatewayError) => ({ failure, message }),
    );
  return { gateway, config, call, deps };
}

describe('sign', () => {
  it('adds a signature over sorted parameters, sees no credentials, and signs in place of cardpoll', async () => {
    const { gateway, call } = await started(`
      import { createHmac } from 'node:crypto';
      export function sign(request) {
        const text = JSON.stringify([request, globalThis.process === undefined]);
        if (text.includes('${TOKEN}')) throw new Error('a token');
        const all = { ...request.query, interface: request.interface, now: typeof request.now };
        const sorted = Object.keys(all).sort().map((name) => name + '=' + all[name]).join('&');
        return { query: { sign: createHmac('sha256', request.key).update(sorted).digest('hex'), 'a&b': 'ü' },
                 headers: { 'X-Method': request.method + ' ' + request.path } };
      }`);
    expect(await call('card_status')).toEqual({ value: 'ON' });
    await call('flow');
    const [, request] = gateway.requests;
    const query = new URLSearchParams(request?.path.split('?')[1]);
    const sorted = `a=x y&b=${CARD.iccid}&interface=flow&now=number`;
    expect([...query.keys()]).toEqual(['b', 'a', 'sign', 'a&b']);
    expect(query.get('sign')).toBe(createHmac('sha256', KEY).update(sorted).digest('hex'));
    expect(request?.headers).toMatchObject({ 'x-method': 'GET /flow', authorization: `Bearer ${TOKEN}` });
    expect(request?.headers).not.toHaveProperty('x-cardpoll-signature');
  });

  it('may replace a header', async () => {
    const { config, deps } = await started(
      "export const sign = () => ({ headers: { 'Content-Type': 'application/json; charset=utf-8' } });",
    );
    const [trial] = await tryInterfaces(config, 'card_status', CARD, deps);
    expect(trial?.request?.headers.filter((line) => line.startsWith('content-type'))).toEqual([
      'content-type: application/json; charset=utf-8',
    ]);
  });

  it('may replace a body', async () => {
    const { gateway, call } = await started(
      "export const sign = ({ body }) => ({ body: body === null ? undefined : body.replace('}', ',\"sign\":1}') });",
    );
    await call('card_status');
    expect(JSON.parse(gateway.requests[0]?.body ?? '')).toEqual({ iccid: CARD.iccid, sign: 1 });
  });

  it.each([
    ['throws', "throw new Error('bad key ' + request.key)", 'bad key \\*\\*\\*$'],
    ['throws nothing', 'throw null', 'null'],
    ['throws what is no text', 'throw Object.create(null)', 'an error without words'],
    ['returns a promise', 'return Promise.reject(new Error("late"))', 'a promise'],
    ['returns nothing', '', 'not an object'],
    ['returns rubbish', 'return 7', 'not an object'],
    ['adds a number', 'return { query: { a: 1 } }', '"a" in query is not a text'],
    ['adds null', 'return { headers: { b: "c", d: null } }', '"d" in headers is null, not a text'],
    ['adds a line', 'return { headers: { a: "b\\r\\nc: d" } }', 'the header "a"'],
    ['adds a length', 'return { headers: { "Content-Length": "1" } }', 'the header "Content-Length"'],
    ['gives a GET a body', 'return { body: "x" }', 'the request has none'],
  ])('a sign function that %s fails the call, which is not sent', async (_, code, reason) => {
    const { gateway, call } = await started(`export function sign(request) { ${code} }`);
    const failed = await call('flow');
    expect(failed).toEqual({
      failure: 'connect',
      message: expect.stringMatching(`^module ours.mjs: sign failed: .*${reason}`),
    });
    expect(JSON.stringify(failed)).not.toContain(KEY);
    expect(gateway.requests).toEqual([]);
  });
});

describe('read', () => {
  const reading = (code: string) => `export function read(name, response, cards) { ${code} }`;

  it('reads what is not JSON, and leaves the rest to the profile', async () => {
    const { call } = await started(
      reading(
        "if (name === 'flow') return cards.map(({ iccid, card_id, carrier_id }) => ({ value: response.body.length + response.status + card_id + carrier_id }))",
      ),
      '{"status":"ON"}',
    );
    expect(await call('flow')).toEqual({ value: 15 + 200 + 7 + 3 });
    expect(await call('card_status')).toEqual({ value: 'ON' });
  });

  it('does what docs/gateway-modules.md shows', async () => {
    const page = readFileSync(new URL('../../../../docs/gateway-modules.md', import.meta.url), 'utf8');
    const example =
      /(?<=^ {4})\/\/ ours\.mjs[\s\S]*?(?=^\S)/m.exec(page)?.[0].replaceAll(/^ {4}/gm, '') ?? '';
    const { gateway, call } = await started(
      example,
      '{"code":0,"packages":[{"bytes":1500000},{"bytes":1000000}],"status":"ON"}',
    );
    expect(await call('flow')).toEqual({ value: 2.5 });
    expect(await call('card_status')).toEqual({ value: 'ON' });
    const query = new URLSearchParams(gateway.requests[0]?.path.split('?')[1]);
    const text = `a=x y&b=${CARD.iccid}&ts=${query.get('ts')}${KEY}`;
    expect(query.get('sign')).toBe(createHash('md5').update(text).digest('hex'));
  });

  it.each([
    ['unknown_card', 'card'],
    ['throttled', 'backpressure'],
    ['auth', 'auth'],
    ['failed', 'business'],
  ])('reports %s', async (error, failure) => {
    const { call } = await started(reading(`return [{ error: '${error}', reason: 'so\\n' }]`));
    expect(await call('flow')).toEqual({ failure, message: `${error}: so` });
  });

  it.each([
    ['throws', 'throw new Error("no")', 'no'],
    ['returns a promise', 'return Promise.reject(new Error("late"))', 'a promise'],
    ['returns a thenable', 'return { then() { throw 1 } }', 'a promise'],
    ['leaves a value to the profile that has no place for it', '', 'does not say where'],
    ['returns rubbish', 'return "7"', 'a list'],
    ['returns too few', 'return []', 'a list'],
    ['returns a text for a volume', 'return [{ value: "7" }]', 'not a number of megabytes'],
    ['returns NaN', 'return [{ value: NaN }]', 'not a number of megabytes'],
    ['returns a negative', 'return [{ value: -1 }]', 'not a number of megabytes'],
    ['returns no reading', 'return [7]', 'not an object'],
    ['returns another error', 'return [{ error: "toString" }]', 'does not exist'],
  ])('a read function that %s makes the answer malformed', async (_, code, reason) => {
    const { call } = await started(reading(code));
    const message = expect.stringMatching(`^module ours.mjs: read .*${reason}`);
    expect(await call('flow')).toEqual({ failure: 'malformed', message });
  });

  it('is shown by a trial, and what is wrong with it', async () => {
    const { config, deps } = await started(
      reading("if (name === 'flow') return [{ value: 1.5 }]; throw new Error('no')"),
    );
    expect(await tryInterfaces(config, null, CARD, deps)).toMatchObject([
      { interface: 'flow', ok: true, value: 1.5, read_from: 'module ours.mjs', hint: null },
      {
        interface: 'card_status',
        ok: false,
        read_from: 'module ours.mjs, else status',
        error: 'malformed',
        hint: expect.stringContaining('gateway.module'),
      },
    ]);
  });
});

describe('a module that cannot be used is refused at the start', () => {
  const good = 'export const sign = () => ({});';
  it.each([
    ['exports neither', 'export const other = 1;', 'exports neither sign nor read'],
    ['exports no function', 'export const sign = 1;', 'sign is not a function'],
    ['is no JavaScript', 'export {', 'ours.mjs: '],
    ['throws', 'throw new Error("at once")', 'at once'],
    [
      'never ends to load',
      'await new Promise(() => {}); export const sign = 1;',
      'is not loaded after 5000 ms',
    ],
  ])('%s', async (_, source, reason) => {
    await expect(load(files(source).config)).rejects.toMatchObject({
      kind: 'config',
      message: expect.stringMatching(`gateway.module: .*${reason}`),
    });
  });

  it('others may change it or its directory, it is a directory, or there is none', async () => {
    await expect(load(files(good, 0o646).config)).rejects.toThrow('run chmod o-w');
    await expect(load(files(good, 0o1646).config)).rejects.toThrow('run chmod o-w');
    const open = files(good);
    chmodSync(join(open.module, '..'), 0o757);
    await expect(load(open.config)).rejects.toThrow('run chmod o-w');
    const folder = files(good);
    mkdirSync(join(folder.module, '..', 'folder'));
    writeFileSync(folder.config, 'gateway: { module: ./folder }');
    await expect(load(folder.config)).rejects.toThrow('is not a regular file');
    writeFileSync(folder.config, 'gateway: { module: ./none.mjs }');
    await expect(load(folder.config)).rejects.toThrow('no such file');
  });

  it('is looked for next to the profile that names it', async () => {
    const { module } = files(good);
    const profile = join(module, '..', 'ours.yaml');
    writeFileSync(
      profile,
      `module: ours.mjs\nsuccess: {}\n${INTERFACES.replaceAll(/^ {2}/gm, '')}`.replaceAll('/flow', '/f'),
    );
    const elsewhere = join(temporaryDirectory('config'), 'cardpoll.yaml');
    writeFileSync(elsewhere, `gateway: { profile: ${profile} }`);
    const flags = { '--config': elsewhere, '--gateway-url': 'http://127.0.0.1:1' };
    const error = await loadGatewayConfig({ flags, env: {} }).catch(messageOf);
    expect(error).toContain('flow: value is missing');
    expect(error).not.toContain('gateway.module');
  });
});

it('logs once a minute that a function keeps all calls waiting', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const { call } = await started(
    `export function sign() {
       for (const end = Date.now() + 120; Date.now() < end;);
       return {};
     }`,
    '{"status":"ON"}',
    log,
  );
  await call('card_status');
  await call('card_status');
  const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /the module is slow/.test(msg));
  expect(told).toMatchObject([{ level: 40, module: 'ours.mjs', function: 'sign' }]);
  expect(told[0].duration_ms).toBeGreaterThanOrEqual(119);
});
