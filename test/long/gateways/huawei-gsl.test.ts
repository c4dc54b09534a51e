// The shipped profile `huawei-gsl` against a gateway written from the same description: a token in a header, states as
// numbers, 50 cards a call as a JSON list, stops that are carried out later.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GSL_TOKEN, type GslGateway, startHuaweiGsl } from '../../support/gateways/huawei-gsl.ts';
import { VendorFleet } from '../../support/vendor-fleet.ts';

let gsl: GslGateway;
let vendor: VendorFleet;

beforeAll(async () => {
  gsl = await startHuaweiGsl();
  gsl.gateway.troubles.effectMs = 3_000;
  vendor = await VendorFleet.start({
    gateway: gsl.gateway,
    profile: 'huawei-gsl',
    credentials: { CARDPOLL_GATEWAY_TOKEN: GSL_TOKEN },
    cards: 60,
  });
  await vendor.importCards();
});
afterAll(() => vendor?.close());

it('reads 50 cards a call, stops a card once although it takes a while, and brings it back', async () => {
  await vendor.expectTrueReadings();
  await vendor.expectOneStopAndResume();
  // While the vendor works on the stop, nothing fails and no second one is called.
  await vendor.expectOnlyTheUnknownCardToFail();
  const { batches, unauthorized, misunderstood } = vendor.gateway.stats();
  expect({ unauthorized, misunderstood }).toEqual({ unauthorized: 0, misunderstood: [] });
  expect(Math.max(...batches)).toBeLessThanOrEqual(50);
  expect(await vendor.verified()).toHaveLength(58);
});
