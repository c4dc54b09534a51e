// Manual triggers through disasters: kill -9 of the daemon and a Redis that lost everything, in mid-trigger. No card
// stays unpolled and none is counted twice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TriggerBody } from '../../src/resources/triggers.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 3_000;
const LEASE_MS = 3_000;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({
    simulator: ['--latency-ms', '20', '--failure-rate', '0.05'],
    env: { CARDPOLL_LEASE_MS: String(LEASE_MS), CARDPOLL_GATEWAY_TIMEOUT_MS: '1000' },
  });
  await fleet.startDaemon();
  for (const id of ['1', '2', '3', '4']) await fleet.cli('configs', 'disable', id, '--yes');
  await fleet.importCards(CARDS);
  await fleet.cli('concurrency', 'set', 'carddata', '30');
});
afterAll(() => fleet?.close());

async function trigger(...args: string[]): Promise<TriggerBody> {
  return JSON.parse(
    (await fleet.cli('trigger', ...args, '--task', 'carddata', '--json')).stdout,
  ) as TriggerBody;
}

const show = (id: string) => fleet.get<TriggerBody>(`/api/admin/polling-manual-trigger/${id}`);

function accounted(id: string, atLeast: number): Promise<TriggerBody> {
  return waitFor(
    async () => {
      const body = await show(id);
      return body.succeeded + body.failed >= atLeast ? body : null;
    },
    { everyMs: 20, what: `${atLeast} results of trigger ${id}` },
  );
}

/** The trigger's end: every card accounted for, exactly once. */
async function expectComplete(id: string, total: number): Promise<void> {
  await accounted(id, total);
  const body = await show(id);
  expect(body).toMatchObject({ status: 'completed', total, waiting: 0, running: 0 });
  expect(body.succeeded + body.failed).toBe(total);
  expect(body.failed).toBeGreaterThan(0);
  await waitFor(async () => (await fleet.redis.llen('polling:manual:carddata')) === 0, {
    what: 'an empty list',
  });
}

describe('a manual trigger', () => {
  it('goes on after kill -9 and counts every card once', async () => {
    const { trigger_id: id } = await trigger('by-condition', '--yes');
    await accounted(id, 1_000);
    await fleet.daemons.at(-1)?.process.stop('SIGKILL');
    await fleet.startDaemon();
    await expectComplete(id, CARDS);
    expect((await fleet.truth()).requests).toBeGreaterThanOrEqual(CARDS);
  });

  it('is queued again when Redis lost everything', async () => {
    const condition = await trigger('by-condition', '--yes');
    const batch = await trigger(
      'batch',
      '--card-ids',
      Array.from({ length: 900 }, (_, i) => i + 1).join(','),
    );
    await accounted(condition.trigger_id, 700);
    await fleet.redis.flushall();
    await expectComplete(condition.trigger_id, CARDS);
    await expectComplete(batch.trigger_id, 900);
  });

  it('is taken back for good when it is cancelled while the daemon dies', async () => {
    const { trigger_id: id } = await trigger('by-condition', '--yes');
    await accounted(id, 100);
    await fleet.cli('trigger', 'cancel', id);
    await fleet.daemons.at(-1)?.process.stop('SIGKILL');
    await fleet.startDaemon();
    // The dead worker's leases end, its cards come back to the list, and leave it again without being polled for long.
    await waitFor(
      async () =>
        (await fleet.redis.zcard('polling:manual:leases:carddata')) === 0 &&
        (await fleet.redis.llen('polling:manual:carddata')) === 0,
      { what: 'nothing to be left of the trigger' },
    );
    expect(await show(id)).toMatchObject({ status: 'cancelled', waiting: 0, running: 0 });
  });
});
