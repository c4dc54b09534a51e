// The shipped profile `telco-vision-ocs` against a gateway written from the same description: the command in the body, the
// token in the query, throttling and unknown cards told by a code with HTTP 200.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../../src/gateway/simulate/simulated-fleet.ts';
import { OCS_TOKEN, startTelcoVisionOcs } from '../../support/gateways/telco-vision-ocs.ts';
import { waitFor } from '../../support/processes.ts';
import { UNKNOWN, VendorFleet } from '../../support/vendor-fleet.ts';

let vendor: VendorFleet;

beforeAll(async () => {
  vendor = await VendorFleet.start({
    gateway: await startTelcoVisionOcs(),
    profile: 'telco-vision-ocs',
    credentials: { CARDPOLL_GATEWAY_TOKEN: OCS_TOKEN },
  });
  await vendor.importCards();
});
afterAll(() => vendor?.close());

it('sends commands, reads codes, stops a card once and brings it back', async () => {
  await vendor.expectTrueReadings();
  await vendor.expectOneStopAndResume();
  await vendor.expectOnlyTheUnknownCardToFail();
  const { unauthorized, misunderstood } = vendor.gateway.stats();
  expect({ unauthorized, misunderstood }).toEqual({ unauthorized: 0, misunderstood: [] });
});

it('slows down when the code says so, and fails no card for it', async () => {
  vendor.gateway.troubles.limit = { calls: 2, withinMs: 1_000 };
  await waitFor(() => vendor.gateway.stats().throttled > 0, { what: 'a call to be throttled' });
  await vendor.expectGrowthToBeRead();
  const failures = await vendor.failures();
  failures.delete(demoIccid(UNKNOWN));
  expect(new Set([...failures.values()].flatMap((kinds) => [...kinds]))).toEqual(new Set(['backpressure']));
});
