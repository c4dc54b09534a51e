// The shipped profile `1nce` against a gateway written from the same description: OAuth 2 with tokens of four seconds, and
// of a card's data only what is left of the total.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../../src/gateway/simulate/simulated-fleet.ts';
import { ONCE_CREDENTIALS, ONCE_TOTAL_MB, type OnceGateway, startOnce } from '../../support/gateways/1nce.ts';
import { busiest } from '../../support/gateways/vendor-gateway.ts';
import { waitFor } from '../../support/processes.ts';
import { UNKNOWN, VendorFleet } from '../../support/vendor-fleet.ts';

let once: OnceGateway;
let vendor: VendorFleet;

beforeAll(async () => {
  once = await startOnce();
  once.tokens.seconds = 4;
  // The description knows only JSON.
  once.tokens.acceptsForm = false;
  once.gateway.troubles.limit = { calls: 10, withinMs: 1_000 };
  vendor = await VendorFleet.start({
    gateway: once.gateway,
    profile: '1nce',
    path: '/management-api',
    credentials: {
      CARDPOLL_GATEWAY_CLIENT_ID: ONCE_CREDENTIALS.clientId,
      CARDPOLL_GATEWAY_CLIENT_SECRET: ONCE_CREDENTIALS.clientSecret,
    },
  });
  // Of card 5 less than nothing is left.
  await vendor.importCards({ 5: 1_000_000 * (ONCE_TOTAL_MB + 12) });
});
afterAll(() => vendor?.close());

it('reads usage as total minus what is left, and renews tokens ahead of their end', async () => {
  await vendor.expectTrueReadings();
  await vendor.expectOneStopAndResume();
  await vendor.expectOnlyTheUnknownCardToFail();
  const { arrivals, throttled, misunderstood, calls, unauthorized } = vendor.gateway.stats();
  expect({ throttled, misunderstood, unauthorized }).toEqual({
    throttled: 0,
    misunderstood: [],
    unauthorized: 0,
  });
  expect(busiest(arrivals)).toBeLessThanOrEqual(10);
  expect(calls.token).toBeGreaterThan(1);
});

it('asks for a new token when all are revoked, and loses no reading', async () => {
  const before = once.gateway.stats();
  once.tokens.revoke();
  await vendor.expectGrowthToBeRead();
  await vendor.polledTwice();
  expect(once.gateway.stats().calls.token).toBeGreaterThan(before.calls.token);
  // The calls that were made with the old token fail as the gateway's fault, and their cards are polled again.
  const failures = await vendor.failures();
  failures.delete(demoIccid(UNKNOWN));
  expect([...failures.values()].flatMap((kinds) => [...kinds]).filter((kind) => kind !== 'auth')).toEqual([]);
});

it('the client survives a token server that answers without a token', async () => {
  once.tokens.instead = { body: { expires_in: 'soon' } };
  once.tokens.revoke();
  const { token } = once.gateway.stats().calls;
  await waitFor(() => once.gateway.stats().calls.token > token, { what: 'another request for a token' });
  once.tokens.instead = null;
  await vendor.expectGrowthToBeRead();
});
