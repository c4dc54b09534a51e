// The shipped profiles `onelink` and `onelink-batch` against a gateway written from the same description: text codes with
// HTTP 200, kilobytes as text, real-name as "1", and 100 cards a call.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { demoIccid } from '../../../src/gateway/simulate/simulated-fleet.ts';
import { ONELINK_APPLICATION, type OneLinkGateway, startOneLink } from '../../support/gateways/onelink.ts';
import { waitFor } from '../../support/processes.ts';
import { VendorFleet } from '../../support/vendor-fleet.ts';

const LOGIN = {
  CARDPOLL_GATEWAY_USERNAME: ONELINK_APPLICATION.appid,
  CARDPOLL_GATEWAY_PASSWORD: ONELINK_APPLICATION.password,
};
let onelink: OneLinkGateway;
let vendor: VendorFleet;

async function start(profile: string, cards: number): Promise<void> {
  onelink = await startOneLink();
  vendor = await VendorFleet.start({
    gateway: onelink.gateway,
    profile,
    path: '/v5',
    credentials: LOGIN,
    cards,
  });
}

afterEach(() => vendor?.close());

it('onelink: reads text and codes, stops a card once and brings it back', async () => {
  await start('onelink', 8);
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

it('onelink: logs in again ahead of the end of a token and after it was refused, and logs none', async () => {
  await start('onelink', 8);
  onelink.tokenLifeMs = 10_000;
  await vendor.importCards();
  await vendor.expectTrueReadings();
  await waitFor(() => onelink.issued.length >= 3, { everyMs: 100, what: 'tokens to be renewed' });
  onelink.revokeTokens();
  await vendor.expectGrowthToBeRead();
  await vendor.polledTwice();
  expect(onelink.repeated).toEqual([]);
  const log: string[] = [];
  for await (const line of vendor.fleet.logLines()) log.push(JSON.stringify(line));
  for (const secret of [...onelink.issued, ONELINK_APPLICATION.password])
    expect(log.filter((line) => line.includes(secret))).toEqual([]);
  expect(log.filter((line) => line.includes('gateway token issued'))).toHaveLength(onelink.issued.length);
});

it('onelink: each of two processes logs in once for each life of a token', async () => {
  await start('onelink', 8);
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

it('onelink: says that the login fails, and since when, while nothing issues tokens', async () => {
  await start('onelink', 8);
  onelink.tokenLifeMs = 2_000;
  await vendor.importCards();
  await vendor.expectTrueReadings();
  onelink.tokensAway = true;
  const stats = async () => (await vendor.fleet.cli('stats')).stdout;
  await waitFor(async () => (await stats()).includes('login to the gateway fails since'), {
    everyMs: 200,
    what: 'stats to name the login',
  });
  // Its lines break where a terminal's do.
  const said = (await stats()).replaceAll(/\s+/g, ' ');
  expect(said).toMatch(/login to the gateway fails since \d\d:\d\d: .*no token: HTTP 503/);
  expect(said).not.toMatch(/gateway (is )?(DOWN|dead)/);
  onelink.tokensAway = false;
  await waitFor(async () => !(await stats()).includes('login to the gateway'), {
    everyMs: 200,
    timeoutMs: 120_000,
    what: 'the fleet to recover',
  });
  await vendor.expectGrowthToBeRead();
});

describe('onelink-batch', () => {
  const CARDS = 120;
  beforeEach(() => start('onelink-batch', CARDS));

  it('reads up to 100 cards a call, whatever the order and the strangers of an answer', async () => {
    onelink.batch.reversed = true;
    onelink.batch.doubled.add(demoIccid(5));
    onelink.batch.foreign.add('89860000000000099999');
    onelink.batch.missing.add(demoIccid(6));
    await vendor.importCards();
    // A card that is missing fails alone, and so does one with two answers.
    await vendor.expectTrueReadings([5, 6]);
    await vendor.expectOneStopAndResume();
    const { batches, misunderstood, calls } = vendor.gateway.stats();
    expect(misunderstood).toEqual([]);
    expect(Math.max(...batches)).toBeLessThanOrEqual(100);
    expect(Math.max(...batches)).toBeGreaterThan(10);
    expect(calls.flow).toBe(batches.length);
  });

  it('finds the card that makes a whole call fail, and reads all others', async () => {
    onelink.batch.poisoned.add(demoIccid(7));
    await vendor.importCards();
    await vendor.expectTrueReadings([7]);
    await waitFor(() => vendor.gateway.stats().batches.includes(1), {
      everyMs: 100,
      what: 'the poisoned card to be asked about alone',
    });
  });
});
