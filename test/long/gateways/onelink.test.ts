// The shipped profile `onelink` against a gateway written from the same description: text codes with HTTP 200, kilobytes as
// text, real-name as "1". Batches and a renewed token: test/e2e/gateways/onelink.test.ts.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ONELINK_APPLICATION, type OneLinkGateway, startOneLink } from '../../support/gateways/onelink.ts';
import { waitFor } from '../../support/processes.ts';
import { VendorFleet } from '../../support/vendor-fleet.ts';

let onelink: OneLinkGateway;
let vendor: VendorFleet;

beforeEach(async () => {
  onelink = await startOneLink();
  vendor = await VendorFleet.start({
    gateway: onelink.gateway,
    profile: 'onelink',
    path: '/v5',
    credentials: {
      CARDPOLL_GATEWAY_USERNAME: ONELINK_APPLICATION.appid,
      CARDPOLL_GATEWAY_PASSWORD: ONELINK_APPLICATION.password,
    },
  });
});
afterEach(() => vendor?.close());

it('a daemon reads text and codes, stops a card once and brings it back', async () => {
  await vendor.importCards();
  await vendor.expectTrueReadings();
  await vendor.expectOneStopAndResume();
  await vendor.expectOnlyTheUnknownCardToFail();
  const { unauthorized, misunderstood } = vendor.gateway.stats();
  expect({ unauthorized, misunderstood }).toEqual({ unauthorized: 0, misunderstood: [] });
  expect(await vendor.verified()).toEqual([1, 2, 5, 6, 7, 8]);
  expect(onelink.issued).toHaveLength(1);
  expect(onelink.repeated).toEqual([]);
});

it('each of two processes logs in once for each life of a token', async () => {
  onelink.tokenLifeMs = 4_000;
  await vendor.fleet.startDaemon();
  await vendor.importCards();
  await vendor.expectTrueReadings();
  const began = performance.now();
  const before = onelink.issued.length;
  await waitFor(() => onelink.issued.length >= before + 4, { everyMs: 50, what: 'both to renew twice' });
  // A token is renewed after three quarters of its life, never sooner: both processes twice, so the second round needs a whole one.
  expect(performance.now() - began).toBeGreaterThan(2_900);
  await vendor.expectGrowthToBeRead();
  expect(vendor.gateway.stats().unauthorized).toBe(0);
  expect(onelink.repeated).toEqual([]);
});

it('the fleet says that the login fails, and since when, while nothing issues tokens', async () => {
  onelink.tokenLifeMs = 2_000;
  await vendor.importCards();
  await vendor.expectTrueReadings();
  onelink.tokensAway = true;
  const stats = async () => (await vendor.fleet.cli('stats')).stdout;
  await waitFor(async () => (await stats()).includes('the login to the gateway fails'), {
    everyMs: 200,
    what: 'stats to name the login',
  });
  // Its lines break where a terminal's do.
  const said = (await stats()).replaceAll(/\s+/g, ' ');
  expect(said).toMatch(/the login to the gateway fails .*no token: HTTP 503.* \(since \d\d:\d\d\)/);
  expect(said).not.toMatch(/gateway (is )?(DOWN|dead)/);
  onelink.tokensAway = false;
  await waitFor(async () => !(await stats()).includes('login to the gateway'), {
    everyMs: 200,
    timeoutMs: 120_000,
    what: 'the fleet to recover',
  });
  await vendor.expectGrowthToBeRead();
});
