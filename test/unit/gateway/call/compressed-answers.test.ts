// Answers that are compressed: asked for, unpacked within max_response_bytes, and named where they cannot be read.
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import type { GatewayError } from '../../../../src/gateway/gateway.ts';
import { unpacked } from '../../../../src/gateway/request/unpack.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { type Behaviour, startBadGateway } from '../../../support/bad-gateway.ts';
import { gatewayConfig } from '../../../support/gateway-config.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const FLOW = Buffer.from('{"code":200,"msg":"ok","data":{"used":12.5}}');
const LONG_MS = 60_000;

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const bytes =
  (body: Buffer, headers: Readonly<Record<string, string>>, status = 200): Behaviour =>
  (socket) => {
    const lines = Object.entries({ ...headers, 'content-length': String(body.length) });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${head}\r\n`), body]));
  };

/** @returns what is read of a card, or the failure and its reason. */
async function flowOf(behaviour: Behaviour, maxResponseBytes = 65_536) {
  const gateway = await startBadGateway(behaviour);
  opened.push(() => gateway.close());
  const calendar = new MonthCalendar('UTC');
  const deps = { log: silentLogger(), clock: systemClock, calendar, proxies: NO_PROXIES };
  const client = new GatewayClient(gatewayConfig({ url: gateway.url, maxResponseBytes }), deps);
  opened.push(() => client.close());
  const read = await client.call('flow', CARD, LONG_MS).then(
    ({ value }) => value,
    ({ failure, message }: GatewayError) => `${failure}: ${message}`,
  );
  return { read, requests: gateway.requests };
}

describe('a compressed answer', () => {
  it('is asked for', async () => {
    const { requests } = await flowOf(bytes(FLOW, {}));
    expect(requests[0]?.headers['accept-encoding']).toBe('gzip, deflate, br');
  });

  it.each([
    ['gzip', gzipSync(FLOW)],
    ['GZIP', gzipSync(FLOW)],
    ['x-gzip', gzipSync(FLOW)],
    ['br', brotliCompressSync(FLOW)],
    ['deflate', deflateSync(FLOW)],
    ['deflate', deflateRawSync(FLOW)],
    ['deflate', deflateSync(FLOW, { level: 1 })],
    ['br, gzip', gzipSync(brotliCompressSync(FLOW))],
    ['identity', FLOW],
    // A proxy unpacked it and left the header; a server took the header for a charset; a file is served as it is.
    ['gzip', FLOW],
    ['utf-8', FLOW],
    ['', gzipSync(FLOW)],
  ])('is read: %s', async (encoding, body) => {
    expect((await flowOf(bytes(body, { 'content-encoding': encoding }))).read).toBe(12.5);
  });

  it.each([
    [
      'br',
      brotliCompressSync(FLOW).subarray(0, 12),
      'the answer is compressed (br) by its header, but it is cut off',
    ],
    [
      'gzip',
      gzipSync(FLOW).subarray(0, 20),
      'the answer is compressed (gzip) by its header, but it is cut off',
    ],
    ['gzip', Buffer.from('PK\u0003\u0004'), 'the answer is compressed (gzip) by its header, but it is none'],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 'the answer is compressed (zstd), which cannot be read'],
    ['gzip, gzip, gzip', gzipSync(FLOW), 'the answer is compressed many times'],
  ])('is named where it cannot be read: %s', async (encoding, body, reason) => {
    const { read } = await flowOf(bytes(body, { 'content-encoding': encoding }));
    expect(read).toBe(`malformed: ${reason}`);
  });

  it('an error is unpacked as well, and a status says more than a body that cannot be', async () => {
    const refused = gzipSync('{"code":4711,"msg":"unknown plan"}');
    const headers = { 'content-encoding': 'gzip' };
    const reason = 'card: HTTP 400: code 4711: unknown plan';
    expect((await flowOf(bytes(refused, headers, 400))).read).toBe(reason);
    // Apache Traffic Control compresses errors without saying so.
    expect((await flowOf(bytes(refused, {}, 400))).read).toBe(reason);
    expect((await flowOf(bytes(Buffer.from('PK'), headers, 429))).read).toBe('backpressure: HTTP 429');
  });

  it('may be as long unpacked as is allowed, and not one byte longer', async () => {
    const body = Buffer.concat([FLOW, Buffer.alloc(4_096 - FLOW.length, ' ')]);
    const gzip = { 'content-encoding': 'gzip' };
    expect((await flowOf(bytes(gzipSync(body), gzip), 4_096)).read).toBe(12.5);
    const longer = gzipSync(Buffer.concat([body, Buffer.from(' ')]));
    expect((await flowOf(bytes(longer, gzip), 4_096)).read).toBe(
      'malformed: the answer is longer than 4096 bytes',
    );
  });
});

const TOKEN = Buffer.from('{"access_token":"a-token","expires_in":60}');

it.each([
  ['br', brotliCompressSync(TOKEN)],
  // A gateway took the body apart and left the header.
  ['gzip', TOKEN],
])('the answer of a token server is read as well: %s', async (encoding, token) => {
  const gateway = await startBadGateway((socket, request) => {
    const isToken = request.path === '/token';
    bytes(isToken ? token : FLOW, isToken ? { 'content-encoding': encoding } : {})(socket, request);
  });
  opened.push(() => gateway.close());
  const { auth } = gatewayConfig({ url: gateway.url });
  const profile = gatewayConfig({
    url: gateway.url,
    auth: { ...auth, kind: 'oauth2', tokenUrl: '/token' },
    clientId: 'a',
    clientSecret: 'b',
  });
  const calendar = new MonthCalendar('UTC');
  const client = new GatewayClient(profile, {
    log: silentLogger(),
    clock: systemClock,
    calendar,
    proxies: NO_PROXIES,
  });
  opened.push(() => client.close());
  expect((await client.call('flow', CARD, LONG_MS)).value).toBe(12.5);
  expect(gateway.requests[1]?.headers.authorization).toBe('Bearer a-token');
});

describe('a bomb', () => {
  const ZEROS = Buffer.alloc(200_000_000);
  const large = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  it.each([
    ['gzip', () => gzipSync(ZEROS, { level: 1 })],
    ['br', () => brotliCompressSync(ZEROS, large)],
    ['gzip, gzip', () => gzipSync(gzipSync(ZEROS, { level: 1 }))],
  ])('is given up at the longest answer: %s', (encoding, made) => {
    const bomb = made();
    const before = process.memoryUsage().arrayBuffers;
    const limit = encoding === 'gzip, gzip' ? 4_000_000 : 65_536;
    expect(() => unpacked(bomb, encoding, limit)).toThrow(`longer than ${limit} bytes`);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });
});
