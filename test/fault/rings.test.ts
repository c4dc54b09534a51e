// Rings that come to differ from configs and cards: configs changed in SQL, buckets lost, a Redis that was replaced, a
// leader killed in the middle. Every card is polled as its configs say again, without anybody's help.
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskType } from '../../src/domain/task-type.ts';
import { Fleet } from '../support/fleet.ts';
import { query } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 2_000;
const HALF = CARDS / 2;

const fleets: Fleet[] = [];
afterEach(() => {
  for (const fleet of fleets.splice(0)) fleet.close();
});

async function loadedFleet(options: Parameters<typeof Fleet.start>[0] = {}): Promise<Fleet> {
  const fleet = await Fleet.start(options);
  fleets.push(fleet);
  await fleet.startDaemon();
  // A card that is found verified changes, and what changes comes back to its rings by itself: nothing to repair.
  for (const id of ['1', '2']) await fleet.cli('configs', 'disable', id, '--yes');
  await fleet.importCards(CARDS);
  await query(fleet.databaseUrl, `UPDATE cards SET carrier_id = 2 WHERE card_id > ${HALF}`);
  await held(fleet, 'carddata', CARDS);
  return fleet;
}

async function bucketKeys(fleet: Fleet, taskType: TaskType): Promise<string[]> {
  return (await fleet.redis.keys(`polling:ring:${taskType}:*:*:*`)).sort();
}

/** Waits until the rings of a task type count, and hold, exactly so many cards. */
async function held(fleet: Fleet, taskType: TaskType, cards: number): Promise<void> {
  let seen = '';
  await waitFor(
    async () => {
      const { items } = await fleet.get<{ items: Array<{ task_type: TaskType; scheduled_cards: number }> }>(
        '/api/admin/polling-stats/queues',
      );
      const counted = items.find((item) => item.task_type === taskType)?.scheduled_cards;
      const keys = await bucketKeys(fleet, taskType);
      const sizes = await Promise.all(keys.map((key) => fleet.redis.scard(key)));
      const members = sizes.reduce((sum, size) => sum + size, 0);
      seen = `counted ${counted}, in buckets ${members}`;
      return counted === cards && members === cards;
    },
    { everyMs: 250, what: `the rings of ${taskType} to hold ${cards} cards` },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${seen}`);
  });
}

interface InitBody {
  readonly status: string;
  readonly loaded: number;
  readonly reason: string;
  readonly reconciliation: {
    readonly reason: string;
    readonly checked: number;
    readonly healed_missing: number;
  };
}

function init(fleet: Fleet): Promise<InitBody> {
  return fleet.get<InitBody>('/api/admin/polling-stats/init-progress');
}

describe('configs changed in SQL', () => {
  it('carrier, then task type: the rings follow, and nothing blocks', async () => {
    const fleet = await loadedFleet();
    await query(fleet.databaseUrl, 'UPDATE polling_configs SET carrier_id = 2 WHERE id = 3');
    await held(fleet, 'carddata', HALF);
    await query(fleet.databaseUrl, 'UPDATE polling_configs SET carrier_id = NULL WHERE id = 3');
    await held(fleet, 'carddata', CARDS);
    // Of two configs for the same cards the one of higher priority polls them all.
    await query(
      fleet.databaseUrl,
      `UPDATE polling_configs SET task_type = 'package', priority = 5 WHERE id = 3`,
    );
    await held(fleet, 'carddata', 0);
    // All of its type's cards were in the other ring before, so their number alone tells nothing.
    const items = await waitFor(
      async () => {
        const configs = await fleet.get<{
          items: Array<{ id: number; members: number; problems: string[] }>;
        }>('/api/admin/polling-configs');
        const [, , third, fourth] = configs.items;
        return third?.members === CARDS && fourth?.members === 0 ? configs.items : null;
      },
      { everyMs: 250, what: 'all cards to be in the ring of config 3' },
    );
    await held(fleet, 'package', CARDS);
    expect(items?.[3]?.problems).toEqual(['every card it matches is polled by config 3']);
    await query(fleet.databaseUrl, 'DELETE FROM cards WHERE card_id <= 10');
    await held(fleet, 'package', CARDS - 10);
  });
});

describe('lost members', () => {
  it('deleted buckets are filled again', async () => {
    const fleet = await loadedFleet();
    const keys = await bucketKeys(fleet, 'carddata');
    await fleet.redis.unlink(...keys.slice(0, keys.length / 2));
    await held(fleet, 'carddata', CARDS);
    expect((await init(fleet)).reconciliation.healed_missing).toBeGreaterThan(CARDS / 10);
  });

  it('a Redis that comes back without some of them is compared at once', async () => {
    const fleet = await loadedFleet({ redis: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    await waitFor(async () => (await fleet.redis.hget('polling:reconciliation', 'live_identity')) ?? null);
    await fleet.redis.unlink(...(await bucketKeys(fleet, 'package')));
    await fleet.redisServer.kill();
    await fleet.redisServer.start();
    await held(fleet, 'package', CARDS);
    await fleet.told('the schedule is compared with all cards', { reason: 'live_store_replaced' });
  });
});

describe('kill -9 of the leader', () => {
  // Small batches, so that there is a middle to be killed in.
  const env = { CARDPOLL_INIT_BATCH: '200', CARDPOLL_INIT_PAUSE_MS: '400' };

  it('in the middle of a rebuild, then of a comparison: the next one goes on', async () => {
    const fleet = await loadedFleet({ env });
    await query(fleet.databaseUrl, 'UPDATE polling_configs SET carrier_id = 2 WHERE id = 3');
    await killWhen(fleet, ({ status, loaded }) => status === 'running' && loaded > 0);
    await fleet.startDaemon();
    await held(fleet, 'carddata', HALF);
    await waitFor(async () => (await init(fleet)).status === 'completed');

    const keys = await bucketKeys(fleet, 'package');
    await fleet.redis.unlink(...keys.slice(0, keys.length / 2));
    await fleet.cli('init', 'rebuild', '--yes');
    const checked = await killWhen(fleet, ({ reconciliation: { reason, checked } }) => {
      return reason === 'requested' && checked > 0 && checked < CARDS;
    });
    await fleet.startDaemon();
    expect((await init(fleet)).reconciliation.checked).toBeGreaterThanOrEqual(checked.reconciliation.checked);
    await held(fleet, 'package', CARDS);
    await held(fleet, 'carddata', HALF);
    await held(fleet, 'realname', CARDS);
  });
});

/** Kills the only daemon as soon as initialisation is so far. @returns how far it was */
async function killWhen(fleet: Fleet, isMiddle: (body: InitBody) => boolean): Promise<InitBody> {
  const found = await waitFor(
    async () => {
      const body = await init(fleet);
      return isMiddle(body) ? body : null;
    },
    { everyMs: 20, what: 'the middle' },
  );
  await fleet.daemons.at(-1)?.process.stop('SIGKILL');
  return found as InitBody;
}
