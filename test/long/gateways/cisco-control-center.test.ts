// The shipped profile `cisco-control-center` against a gateway written from the same description: HTTP Basic, the card in
// the path, bytes, the HTTP status alone, five calls a second.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CISCO_CREDENTIALS, startCiscoControlCenter } from '../../support/gateways/cisco-control-center.ts';
import { busiest } from '../../support/gateways/vendor-gateway.ts';
import { VendorFleet } from '../../support/vendor-fleet.ts';

let vendor: VendorFleet;

beforeAll(async () => {
  vendor = await VendorFleet.start({
    gateway: await startCiscoControlCenter(),
    profile: 'cisco-control-center',
    credentials: {
      CARDPOLL_GATEWAY_USERNAME: CISCO_CREDENTIALS.username,
      CARDPOLL_GATEWAY_PASSWORD: CISCO_CREDENTIALS.password,
    },
  });
  vendor.gateway.troubles.limit = { calls: 5, withinMs: 1_000 };
  await vendor.importCards();
});
afterAll(() => vendor?.close());

it('reads bytes as megabytes, stops a card once, brings it back and keeps the pace', async () => {
  await vendor.expectTrueReadings();
  await vendor.expectOneStopAndResume();
  await vendor.expectOnlyTheUnknownCardToFail();
  const { arrivals, throttled, unauthorized, misunderstood, calls } = vendor.gateway.stats();
  expect({ throttled, unauthorized, misunderstood }).toEqual({
    throttled: 0,
    unauthorized: 0,
    misunderstood: [],
  });
  expect(busiest(arrivals)).toBeLessThanOrEqual(5);
  expect(calls.realname).toBe(0);
});
