// The shipped profile `onelink-batch` against a gateway written from the same description: 100 cards a call, and a login whose
// token ends. One card a call, and what else may happen to tokens: test/long/gateways/onelink.test.ts; calls that one card makes
// fail: test/long/batches.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../../src/gateway/simulate/simulated-fleet.ts';
import { ONELINK_APPLICATION, type OneLinkGateway, startOneLink } from '../../support/gateways/onelink.ts';
import { waitFor } from '../../support/processes.ts';
import { VendorFleet } from '../../support/vendor-fleet.ts';

/** A card that is missing fails alone, and so does one with two answers. */
const UNREAD = [5, 6];
let onelink: OneLinkGateway;
let vendor: VendorFleet;

beforeAll(async () => {
  onelink = await startOneLink();
  onelink.tokenLifeMs = 5_000;
  onelink.batch.reversed = true;
  onelink.batch.doubled.add(demoIccid(5));
  onelink.batch.foreign.add('89860000000000099999');
  onelink.batch.missing.add(demoIccid(6));
  vendor = await VendorFleet.start({
    gateway: onelink.gateway,
    profile: 'onelink-batch',
    path: '/v5',
    credentials: {
      CARDPOLL_GATEWAY_USERNAME: ONELINK_APPLICATION.appid,
      CARDPOLL_GATEWAY_PASSWORD: ONELINK_APPLICATION.password,
    },
    cards: 120,
  });
  await vendor.importCards();
});
afterAll(() => vendor?.close());

it('reads up to 100 cards a call, whatever the order and the strangers of an answer', async () => {
  await vendor.expectTrueReadings(UNREAD);
  await vendor.expectOneStopAndResume();
  const { batches, misunderstood, calls } = vendor.gateway.stats();
  expect(misunderstood).toEqual([]);
  expect(Math.max(...batches)).toBeLessThanOrEqual(100);
  expect(Math.max(...batches)).toBeGreaterThan(10);
  expect(calls.flow).toBe(batches.length);
});

it('logs in again ahead of the end of a token and after it was refused, and logs none', async () => {
  await waitFor(() => onelink.issued.length >= 3, { everyMs: 100, what: 'tokens to be renewed' });
  onelink.revokeTokens();
  await vendor.expectGrowthToBeRead(UNREAD);
  await vendor.polledTwice();
  expect(onelink.repeated).toEqual([]);
  const log: string[] = [];
  for await (const line of vendor.fleet.logLines()) log.push(JSON.stringify(line));
  for (const secret of [...onelink.issued, ONELINK_APPLICATION.password])
    expect(log.filter((line) => line.includes(secret))).toEqual([]);
  await waitFor(
    async () => (await vendor.fleet.logged('gateway token issued')).length === onelink.issued.length,
    { everyMs: 50, what: 'a line for each token' },
  );
});
