// What all vendors' gateways do alike, with the plainest of them: limits, delays, orders carried out later, counts.
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  CISCO_CREDENTIALS,
  startCiscoControlCenter,
} from '../../../support/gateways/cisco-control-center.ts';
import { busiest, type VendorGateway } from '../../../support/gateways/vendor-gateway.ts';
import { waitFor } from '../../../support/wait-for.ts';

let gateway: VendorGateway;
const authorization = `Basic ${btoa(`${CISCO_CREDENTIALS.username}:${CISCO_CREDENTIALS.password}`)}`;
const device = (iccid: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}/rws/api/v1/devices/${iccid}`, { headers: { authorization }, ...init });

beforeEach(async () => {
  gateway = await startCiscoControlCenter();
});
afterEach(() => gateway.close());

it('refuses calls beyond the limit of the account and admits them later', async () => {
  gateway.troubles.limit = { calls: 3, withinMs: 3_600_000 };
  const answers = await Promise.all(Array.from({ length: 8 }, () => device('1')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(gateway.stats()).toMatchObject({ throttled: 5, calls: { status: 3 } });
  gateway.troubles.limit = { calls: 3, withinMs: 200 };
  await waitFor(async () => (await device('1')).ok, { what: 'a call to be admitted again' });
});

it('counts when calls arrive, refused ones included', async () => {
  gateway.troubles.limit = { calls: 1, withinMs: 3_600_000 };
  await Promise.all([device('1'), device('1'), device('1', { headers: {} })]);
  const { arrivals, unauthorized } = gateway.stats();
  expect(arrivals).toHaveLength(3);
  expect(unauthorized).toBe(1);
  expect(busiest(arrivals, 600_000)).toBe(3);
});

it('finds the busiest second, wherever it begins', () => {
  expect(busiest([])).toBe(0);
  expect(busiest([0, 950, 1_000, 1_899, 1_900, 5_000])).toBe(4);
});

it('carries out a stop when its time has come, and counts it at once', async () => {
  gateway.troubles.effectMs = 60_000;
  await device('1', { method: 'PUT', body: '{"status":"DEACTIVATED"}' });
  expect(gateway.stats().stops).toEqual({ 1: 1 });
  expect(gateway.card('1')?.stopped).toBe(false);
  gateway.troubles.effectMs = 0;
  await device('2', { method: 'PUT', body: '{"status":"DEACTIVATED"}' });
  expect(gateway.card('2')?.stopped).toBe(true);
});

it('takes its time before it answers', async () => {
  gateway.troubles.latencyMs = 300;
  const before = performance.now();
  await device('1');
  expect(performance.now() - before).toBeGreaterThanOrEqual(290);
});

it('answers what a test puts in place of its own answers', async () => {
  gateway.troubles.instead = { headers: { 'content-type': 'text/html' }, body: '<html>maintenance</html>' };
  expect(await (await device('1')).text()).toBe('<html>maintenance</html>');
  gateway.troubles.instead = {};
  expect(await (await device('1')).text()).toBe('');
  gateway.troubles.instead = { body: { error: 'later' } };
  expect(await (await device('1')).json()).toEqual({ error: 'later' });
});
