// A daemon that stands still (SIGSTOP, a suspended machine) while its leases end and another instance takes its cards:
// when it goes on, it acts on none of them. The other instance is the test itself, so that every call is the daemon's.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { TriggerBody } from '../../src/resources/triggers.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { WorkItem } from '../../src/store/ports/live/work-queue.ts';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 100;
const LEASE_MS = 2_000;

let gateway: ScriptedGateway;
let fleet: Fleet;
let live: LiveStore;

beforeAll(async () => {
  gateway = await startScriptedGateway(({ interfaceName }) => ({
    body: HEALTHY[interfaceName],
    delayMs: 50,
  }));
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_LEASE_MS: String(LEASE_MS), CARDPOLL_GATEWAY_TIMEOUT_MS: '500' },
  });
  live = await openRedisLiveStore({ url: fleet.redisServer.url });
  await fleet.startDaemon();
  for (const id of ['1', '2', '3', '4']) await fleet.cli('configs', 'disable', id, '--yes');
  await fleet.importCards(CARDS);
});
afterAll(async () => {
  fleet?.close();
  await live?.close();
  await gateway.close();
});

async function trigger(path: string, body: object): Promise<TriggerBody> {
  const response = await fetch(`${fleet.daemons[0]?.url}/api/admin/polling-manual-trigger${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ task_type: 'realname', ...body }),
  });
  return (await response.json()) as TriggerBody;
}

/** Has the daemon poll a card, and with it whatever it took before. */
async function pollsCard(cardId: number): Promise<void> {
  const { trigger_id } = await trigger('/single', { card_id: cardId });
  await waitFor(
    async () =>
      (await fleet.get<TriggerBody>(`/api/admin/polling-manual-trigger/${trigger_id}`)).status ===
      'completed',
    { what: `card ${cardId} to be polled` },
  );
}

const callsOf = (cardId: number) => gateway.callsOf.get(`realname ${demoIccid(cardId)}`) ?? 0;

/** Has the daemon claim cards and stand still before it calls for them: nobody reads cards while the test holds them. */
async function standStillHolding(cardIds: readonly number[]): Promise<void> {
  const holder = new pg.Client({ connectionString: fleet.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE cards IN ACCESS EXCLUSIVE MODE');
    await live.manual.push('realname', cardIds.map(String));
    await waitFor(
      async () => {
        const held = await live.manual.running('realname');
        return cardIds.every((cardId) => held.includes(String(cardId)));
      },
      { what: 'the daemon to claim the cards' },
    );
    fleet.daemons[0]?.process.signal('SIGSTOP');
  } finally {
    await holder.end();
  }
}

it('a daemon acts on no lease that ended while it was frozen', async () => {
  const [daemon] = fleet.daemons;
  const cards = [1, 2, 3];
  await standStillHolding(cards);
  expect(cards.map(callsOf)).toEqual([0, 0, 0]);

  const taken: WorkItem[] = [];
  await waitFor(
    async () => {
      const request = { instanceId: 'other', claimNumber: taken.length + 1, max: 10, leaseMs: 600_000 };
      taken.push(...(await live.work.claim('realname', request)).items);
      return cards.every((cardId) => taken.some((item) => item.cardId === cardId));
    },
    { what: 'the leases to end' },
  );
  daemon?.process.signal('SIGCONT');

  await pollsCard(CARDS - 1);
  await pollsCard(CARDS);
  expect(cards.map(callsOf), 'calls for cards that another instance holds').toEqual(cards.map(() => 0));
  const settlements = taken.map((item) => ({ item, verdict: 'done', random: 0 }) as const);
  expect(await live.work.settle('realname', settlements, { baseMs: 0, capMs: 0 })).toEqual({ fenced: 0 });
  expect(daemon?.process.running, daemon?.process.stderr).toBe(true);
});
