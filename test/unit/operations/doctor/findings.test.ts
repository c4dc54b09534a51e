// What the doctor says of instances, servers and counts that are as nobody makes them for a test.
import { describe, expect, it } from 'vitest';
import { instanceFindings } from '../../../../src/operations/doctor/instances.ts';
import { liveStoreFindings } from '../../../../src/operations/doctor/live-store.ts';
import { ringSampleFindings } from '../../../../src/operations/doctor/ring-sample.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import { INIT_NOT_STARTED, type InstanceInfo } from '../../../../src/store/ports/coordination.ts';
import type { LiveServer } from '../../../../src/store/ports/live-store.ts';
import type { RecordStore } from '../../../../src/store/ports/record-store.ts';

describe('instances', () => {
  const worker = (instanceId: string, version: string) => ({ instanceId, version }) as InstanceInfo;

  it('of one version are well', () => {
    expect(instanceFindings([worker('a', '1.0.0'), worker('b', '1.0.0')])).toMatchObject([
      { status: 'ok', detail: '2 of 1.0.0' },
    ]);
    expect(instanceFindings([])).toMatchObject([{ status: 'skipped' }]);
  });

  it('of several are told', () => {
    expect(instanceFindings([worker('a', '1.0.0'), worker('b', '0.9.0')])).toMatchObject([
      {
        status: 'warning',
        detail: expect.stringMatching(/^1 of 1.0.0, 1 of 0.9.0/),
        command: 'cardpoll stats instances',
      },
    ]);
  });
});

describe('redis servers', () => {
  const WELL: LiveServer = {
    address: '10.0.0.1:6379',
    version: '7.0.15',
    writable: true,
    usedBytes: 1e8,
    limitBytes: 8e9,
    replicas: 1,
    replicasInStep: 1,
    persistent: true,
    savesFail: false,
  };
  async function found(check: string, servers: Partial<LiveServer>[], cards = 1_000) {
    const live = {
      ...openEmbeddedLiveStore({ clock: systemClock }),
      servers: async () => servers.map((server) => ({ ...WELL, ...server })),
    };
    return (await liveStoreFindings(live, systemClock, cards)).find((one) => one.check === check);
  }

  it('are shown by the worst of them', async () => {
    const servers = [{}, { address: '10.0.0.2:6379', version: '6.0.9' }];
    expect(await found('redis version', servers)).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('10.0.0.2:6379 runs 6.0.9'),
    });
    expect(await found('redis version', [{}])).toMatchObject({ status: 'ok', detail: '7.0.15' });
  });

  it('must have room for the fleet, not only for what is there', async () => {
    expect((await found('redis memory', [{}], 10_000_000))?.status).toBe('ok');
    expect(await found('redis memory', [{ limitBytes: 5e8 }], 10_000_000)).toMatchObject({
      status: 'failed',
      command: 'redis-cli -h 10.0.0.1 -p 6379 CONFIG SET maxmemory 1870mb',
    });
    expect(
      (await found('redis memory', [{ limitBytes: 7e8 }, { limitBytes: 7e8 }], 10_000_000))?.status,
    ).toBe('ok');
    expect((await found('redis memory', [{ usedBytes: null }]))?.status).toBe('unknown');
  });

  it('must be able to write, to their disk and to their replicas', async () => {
    const command = (words: string) => `redis-cli -h 10.0.0.1 -p 6379 ${words}`;
    const cases: [Partial<LiveServer>, string, string][] = [
      [{ writable: false }, 'failed', command('REPLICAOF NO ONE')],
      [{ savesFail: true }, 'failed', command('BGSAVE')],
      [{ replicas: 2 }, 'warning', command('INFO replication')],
    ];
    for (const [server, status, typed] of cases) {
      expect(await found('redis replication', [server])).toMatchObject({ status, command: typed });
    }
    expect((await found('redis replication', [{}]))?.status).toBe('ok');
  });
});

describe('the sample of cards in rings', () => {
  const CONFIG = {
    id: 1,
    name: 'all',
    taskType: 'realname',
    cardCondition: 'any',
    carrierId: null,
    intervalSeconds: 60,
    priority: 1,
    status: 1,
  } as const;
  const card = (cardId: number) => ({ cardId, carrierId: 1, realNameVerified: false });
  const loaded = { ...INIT_NOT_STARTED, status: 'completed' as const };

  async function setUp(members: readonly number[], cards: readonly number[]) {
    const live = openEmbeddedLiveStore({ clock: systemClock });
    await live.rings.configure({ configId: 1, taskType: 'realname' }, { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration({ configId: 1, taskType: 'realname' }, 1_024, { activate: true });
    await live.rings.add({ configId: 1, taskType: 'realname' }, members);
    const records = {
      configs: { list: async () => [CONFIG] },
      cards: {
        lastId: async () => Math.max(...cards),
        page: async (after: number, limit: number) =>
          cards
            .filter((id) => id > after)
            .slice(0, limit)
            .map(card),
        byIds: async (ids: readonly number[]) => ids.filter((id) => cards.includes(id)).map(card),
      },
    } as unknown as RecordStore;
    return { live, records };
  }

  it('forgives what arrives while it waits, and what is gone by then', async () => {
    const stores = await setUp([1, 2], [1, 2, 3, 4]);
    const settle = async () => {
      await stores.live.rings.add({ configId: 1, taskType: 'realname' }, [3, 4]);
    };
    expect(await ringSampleFindings(stores, loaded, Math.random, settle)).toMatchObject([
      { status: 'ok', detail: '4 cards looked up, all in their rings' },
    ]);
  });

  it('tells what stays away', async () => {
    const stores = await setUp([1, 2], [1, 2, 3]);
    expect(await ringSampleFindings(stores, loaded, Math.random, async () => {})).toMatchObject([
      {
        status: 'failed',
        detail: expect.stringMatching(/^1 card of 3/),
        command: 'cardpoll init rebuild --yes',
      },
    ]);
  });

  it('waits for the end of the initialisation', async () => {
    const stores = await setUp([], [1]);
    expect(await ringSampleFindings(stores, INIT_NOT_STARTED, Math.random, async () => {})).toMatchObject([
      { status: 'skipped' },
    ]);
  });
});
