// Batches of 100 cards from three daemons on a Redis Cluster, by the gateway's own count: some cards make a whole call fail, some are
// missing from the answer or there twice, answers come in any order, and one daemon is killed in the middle.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { ONELINK_APPLICATION, type OneLinkGateway, startOneLink } from '../support/gateways/onelink.ts';
import { waitFor } from '../support/processes.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-topologies.ts';
import { UNKNOWN, VendorFleet } from '../support/vendor-fleet.ts';

const CARDS = 600;
const INTERVAL_SECONDS = 10;
const POISONED = [7, 200, 450];
const UNANSWERED = [5, 6, 300, 301];
const FAULTY = [UNKNOWN, ...POISONED, ...UNANSWERED];
const HEALTHY = Array.from({ length: CARDS }, (_, i) => i + 1).filter((id) => !FAULTY.includes(id));
const STEP_BYTES = 640_000;
const GATEWAY = {
  // Far fewer calls than cards: only batches can keep the interval.
  rate_limits: [{ interfaces: ['flow'], per_second: 6, burst: 6 }],
  interfaces: { realname: { enabled: false } },
};

let cluster: RedisCluster;
let onelink: OneLinkGateway;
let vendor: VendorFleet;
beforeAll(async () => {
  [cluster, onelink] = await Promise.all([startRedisCluster(), startOneLink()]);
  const { batch, gateway } = onelink;
  gateway.troubles.latencyMs = 100;
  batch.reversed = true;
  for (const id of POISONED) batch.poisoned.add(demoIccid(id));
  for (const id of UNANSWERED) (id % 2 === 0 ? batch.missing : batch.doubled).add(demoIccid(id));
  batch.foreign.add('89860000000000099999');
  vendor = await VendorFleet.start({
    gateway,
    profile: 'onelink-batch',
    path: '/v5',
    credentials: {
      CARDPOLL_GATEWAY_USERNAME: ONELINK_APPLICATION.appid,
      CARDPOLL_GATEWAY_PASSWORD: ONELINK_APPLICATION.password,
    },
    settings: GATEWAY,
    cards: CARDS,
    redisUrl: cluster.url,
    intervalSeconds: INTERVAL_SECONDS,
  });
  await vendor.fleet.setLimits(1_000);
  // Package polls, one card a call, are not what this is about.
  await vendor.fleet.cli('configs', 'set', '4', '--interval-seconds', '60', '--yes');
  await vendor.fleet.startDaemon();
  await vendor.fleet.startDaemon();
  await vendor.importCards();
});
afterAll(async () => {
  await vendor?.close();
  await cluster?.stop();
});

const asked = () => Object.values(onelink.gateway.stats().asked).reduce((sum, calls) => sum + calls, 0);

/** Waits until the gateway was asked about so many more cards. */
async function askedAbout(cards: number): Promise<void> {
  const until = asked() + cards;
  await waitFor(() => asked() >= until, { everyMs: 50, what: `${cards} cards to be asked about` });
}

it('keeps every card current and asks about none twice at once, through a killed daemon', async () => {
  const { fleet, gateway } = vendor;
  await vendor.expectTrueReadings(FAULTY);
  // Each daemon finds the poisoned cards for itself.
  await askedAbout(3 * CARDS);

  const startedAt = performance.now();
  const before = gateway.stats();
  await askedAbout(2 * CARDS);
  fleet.daemons[0]?.process.signal('SIGKILL');
  await askedAbout(3 * CARDS);
  const revolutions = (performance.now() - startedAt) / 1_000 / INTERVAL_SECONDS;
  const { asked: after, batches } = gateway.stats();
  const counts = HEALTHY.map(demoIccid).map((iccid) => (after[iccid] ?? 0) - (before.asked[iccid] ?? 0));
  const average = counts.reduce((sum, count) => sum + count) / HEALTHY.length;
  expect(average, `of ${revolutions} revolutions`).toBeLessThan(1.2 * revolutions);
  expect(Math.min(...counts), `of ${average} on average`).toBeGreaterThan(average / 2);
  const calls = batches.length - before.batches.length;
  expect(calls, 'calls').toBeLessThan((CARDS * 5) / 4);
  expect(Math.max(...batches)).toBeLessThanOrEqual(100);

  for (const id of HEALTHY) vendor.card(id).usedBytes += STEP_BYTES;
  await vendor.expectTrueReadings(FAULTY);
  // A line of a call names all cards of the call; a poll is of one card.
  const blamed = (await fleet.logged('poll failed')).filter(({ error }) =>
    ['card', 'business', 'malformed'].includes(String(error)),
  );
  expect([...new Set(blamed.map(({ iccid }) => iccid))].sort()).toEqual(FAULTY.map(demoIccid).sort());

  const { askedAtOnce, misunderstood } = gateway.stats();
  expect({ askedAtOnce, misunderstood }).toEqual({ askedAtOnce: 1, misunderstood: [] });
  for (const { process } of fleet.daemons.slice(1)) expect((await process.stop('SIGTERM')).code).toBe(0);
});
