// Orders of the built daemon, as the gateway counts: stops of cards that go over their package while package polls hold the slots,
// and a stop that an operator orders while a thousand cards wait.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import {
  type ScriptedCall,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';

const CARDS = 1_000;
const OVER = Array.from({ length: 200 }, (_, i) => i + 1);
const LEASE_MS = 60_000;
const QUEUE = 'polling:queue:package';

let gateway: ScriptedGateway;
let fleet: Fleet;
let live: LiveStore;
/** How long the gateway takes to answer for a status. */
let statusMs = 50;
let statusCalls = 0;
const readAt = new Map<string, number>();
const stoppedAt = new Map<string, number>();

function answer({ interfaceName, iccid }: ScriptedCall) {
  if (interfaceName === 'flow') {
    if (!readAt.has(iccid)) readAt.set(iccid, performance.now());
    return { body: { used: 100 } };
  }
  if (interfaceName === 'stop') stoppedAt.set(iccid, performance.now());
  if (interfaceName !== 'card_status') return { body: HEALTHY[interfaceName] };
  statusCalls += 1;
  return { body: { cardStatus: stoppedAt.has(iccid) ? 'stopped' : 'active' }, delayMs: statusMs };
}

beforeAll(async () => {
  gateway = await startScriptedGateway(answer);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: {
      CARDPOLL_LEASE_MS: String(LEASE_MS),
      CARDPOLL_ADAPTIVE_CONCURRENCY: 'off',
      CARDPOLL_STOPS_MAX_PER_HOUR: 'none',
      CARDPOLL_STOPS_MAX_PER_DAY: 'none',
    },
  });
  await fleet.startDaemon();
  live = await openRedisLiveStore({ url: fleet.redisServer.url });
  await fleet.setIntervals(86_400);
  // Cards come to carddata only by hand.
  await fleet.cli('configs', 'disable', '3', '--yes');
  await fleet.importCards(CARDS, (cardId) => (OVER.includes(cardId) ? 50 : ''));
});
afterAll(async () => {
  fleet?.close();
  await live?.close();
  await gateway?.close();
});

it('cards that go over while slow polls hold all slots are stopped as these end, not when their leases do', async ({
  annotate,
}) => {
  await fleet.setLimits(OVER.length);
  statusMs = 1_000;
  const before = statusCalls;
  await live.manual.push('package', OVER.map(String));
  await waitFor(() => statusCalls - before > 20, { what: 'polls in flight' });
  await live.manual.push('carddata', OVER.map(String));
  await waitFor(() => OVER.every((cardId) => stoppedAt.has(demoIccid(cardId))), {
    timeoutMs: 2 * LEASE_MS,
    what: 'all stops',
  });
  const delays = OVER.map((cardId) => demoIccid(cardId))
    .map((iccid) => (stoppedAt.get(iccid) ?? 0) - (readAt.get(iccid) ?? 0))
    .sort((a, b) => a - b);
  const [least, middle, most] = [0, 100, 199].map((i) => Math.round(delays[i] ?? 0));
  await annotate(`ms from the reading to the stop: ${least}, ${middle}, ${most}`);
  expect(most).toBeLessThan(LEASE_MS / 2);
});

it('an ordered stop is made among the first, with a thousand cards waiting', async ({ annotate }) => {
  statusMs = 100;
  await fleet.setLimits(4);
  const dueAt = String(Date.now());
  const others = Array.from({ length: CARDS - 1 }, (_, i) => String(i + 1)).flatMap((id) => [dueAt, id]);
  await fleet.redis.zadd(QUEUE, ...others, String(Date.now() + 1), String(CARDS));
  const before = statusCalls;
  const orderedAt = performance.now();
  await fleet.cli('cards', 'stop', String(CARDS), '--reason', 'stolen', '--yes');
  await waitFor(() => stoppedAt.has(demoIccid(CARDS)), { timeoutMs: 120_000, what: 'the stop' });
  const polls = statusCalls - before;
  const tookMs = Math.round((stoppedAt.get(demoIccid(CARDS)) ?? 0) - orderedAt);
  await annotate(`${polls} polls and ${tookMs} ms from the command to the stop`);
  expect(polls).toBeLessThan(CARDS / 2);
});
