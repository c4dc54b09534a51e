import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  CISCO_CREDENTIALS,
  startCiscoControlCenter,
} from '../../../support/gateways/cisco-control-center.ts';
import type { VendorGateway } from '../../../support/gateways/vendor-gateway.ts';

let gateway: VendorGateway;
const basic = (user: string, key: string) => ({ authorization: `Basic ${btoa(`${user}:${key}`)}` });
const good = basic(CISCO_CREDENTIALS.username, CISCO_CREDENTIALS.password);

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${gateway.url}/rws/api/v1/devices/${path}`, { headers: good, ...init });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const put = (iccid: string, body: unknown) => call(iccid, { method: 'PUT', body: JSON.stringify(body) });

beforeEach(async () => {
  gateway = await startCiscoControlCenter();
});
afterEach(() => gateway.close());

it('tells the bytes of the billing cycle, which grow', async () => {
  gateway.growBytes = 1_500_000;
  expect(await call('89860001/ctdUsages')).toMatchObject({
    status: 200,
    body: { iccid: '89860001', ctdDataUsage: 1_500_000, status: 'ACTIVATED' },
  });
  expect(await call('89860001/ctdUsages')).toMatchObject({ body: { ctdDataUsage: 3_000_000 } });
  expect(gateway.card('89860001')?.usedBytes).toBe(3_000_000);
});

it('stops and resumes a card by its status', async () => {
  expect(await put('1', { status: 'DEACTIVATED' })).toEqual({ status: 200, body: { iccid: '1' } });
  expect(await call('1')).toMatchObject({ body: { status: 'DEACTIVATED' } });
  await put('1', { status: 'ACTIVATED' });
  expect(await call('1')).toMatchObject({ body: { status: 'ACTIVATED' } });
  expect(gateway.stats()).toMatchObject({ stops: { 1: 1 }, starts: { 1: 1 }, calls: { stop: 1, start: 1 } });
});

it('refuses wrong credentials', async () => {
  expect(await call('1', { headers: {} })).toMatchObject({ status: 401 });
  expect(await call('1', { headers: basic('fleet-operator', 'wrong') })).toMatchObject({
    status: 401,
    body: { errorCode: '10000001' },
  });
  expect(gateway.stats()).toMatchObject({ unauthorized: 2, calls: { status: 0 } });
});

it('does not know every card', async () => {
  gateway.unknown.add('7');
  expect(await call('7/ctdUsages')).toMatchObject({ status: 404, body: { errorCode: '20000001' } });
  expect(await put('7', { status: 'DEACTIVATED' })).toMatchObject({ status: 404 });
  expect(gateway.stats().stops).toEqual({});
});

it('throttles with 429', async () => {
  gateway.troubles.limit = { calls: 0, withinMs: 1_000 };
  expect(await call('1')).toMatchObject({ status: 429 });
});

it('refuses what the description does not mention', async () => {
  expect(await put('1', { status: 'stopped' })).toMatchObject({ status: 400 });
  expect(await put('1', {})).toMatchObject({ status: 400 });
  expect(await call('1', { method: 'POST' })).toMatchObject({ status: 405 });
  expect(await call('1/ctdUsages', { method: 'PUT' })).toMatchObject({ status: 405 });
  expect(await call('1/usage')).toMatchObject({ status: 404, body: '<html>Not Found</html>' });
  expect(gateway.stats().misunderstood).toHaveLength(5);
});
