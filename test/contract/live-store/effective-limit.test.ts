// The effective limit: in force in addition to the configured one, seeded once, its record kept; and its inputs.

import { expect, it } from 'vitest';
import { DEFAULT_MAX_CONCURRENCY } from '../../../src/domain/limits/operator-limits.ts';
import { setLimit } from '../../support/limits.ts';
import { statsDelta } from '../../support/stats-delta.ts';
import { claim, describeLiveStore, queueCards, REALNAME, range } from './stores.ts';

describeLiveStore('effective limit', (live) => {
  const inForce = async () => (await live.store.work.counts(REALNAME)).effectiveConcurrency;

  it('is the configured one until it is lowered', async () => {
    expect(await inForce()).toBe(DEFAULT_MAX_CONCURRENCY);
    await setLimit(live.store.work, REALNAME, 12);
    expect(await inForce()).toBe(12);
  });

  it('bounds the claims of every client, and raises no limit', async () => {
    const { work } = live.store;
    await queueCards(live.store, range(30));
    await setLimit(work, REALNAME, 20);
    await work.setEffectiveConcurrency(REALNAME, 4);
    const first = await claim(await live.another(), 30);
    expect([first.items.length, first.freeSlots]).toEqual([4, 0]);
    expect(await work.counts(REALNAME)).toMatchObject({ maxConcurrency: 20, effectiveConcurrency: 4 });
    expect((await claim(live.store, 30)).items).toHaveLength(0);
    await work.setEffectiveConcurrency(REALNAME, 500);
    expect(await work.counts(REALNAME)).toMatchObject({ effectiveConcurrency: 20, leaderLimit: 500 });
    expect((await claim(live.store, 30)).items).toHaveLength(16);
  });

  it('claims nothing while it lies below what runs', async () => {
    const { work } = live.store;
    await queueCards(live.store, range(20));
    await setLimit(work, REALNAME, 10);
    const running = await claim(live.store, 10);
    await work.setEffectiveConcurrency(REALNAME, 4);
    await work.release(REALNAME, running.items.slice(0, 6));
    expect(await claim(live.store, 5)).toMatchObject({ items: [], freeSlots: 0 });
    await work.release(REALNAME, running.items.slice(6, 8));
    expect((await claim(live.store, 5)).items).toHaveLength(2);
  });

  it('removed, a higher configured limit is in force with the next claim', async () => {
    const { work } = live.store;
    await queueCards(live.store, range(50));
    await setLimit(work, REALNAME, 10);
    await work.setEffectiveConcurrency(REALNAME, 3);
    await work.setEffectiveConcurrency(REALNAME, null);
    await setLimit(work, REALNAME, 40);
    expect((await claim(live.store, 50)).items).toHaveLength(40);
  });

  it('keeps its record for every client', async () => {
    expect(await live.store.work.limitRecord(REALNAME)).toBeNull();
    const record = {
      limit: 17,
      normalMs: 51.5,
      reason: '12 % of 340 calls were refused (429 or 503)',
      curve: [
        {
          concurrency: 17,
          ratePerSecond: 330.25,
          avgDurationMs: 51.5,
          backpressurePercent: 0,
          atMs: 1_800_000_000_000,
        },
      ],
    };
    await live.store.work.saveLimitRecord(REALNAME, record);
    expect(await (await live.another()).work.limitRecord(REALNAME)).toEqual(record);
    expect(await live.store.work.limitRecord('package')).toBeNull();
  });
});

describeLiveStore('what the effective limit is judged from', (live) => {
  it('adds up over workers and counts a flush once', async () => {
    const { stats } = live.store;
    const delta = {
      succeeded: 5,
      failed: 4,
      durationMs: 900,
      succeededMs: 250.5,
      backpressure: 2,
      timeouts: 1,
    };
    await stats.record(REALNAME, 'a', 1, statsDelta({ ...delta, limitReached: 3 }));
    await stats.record(REALNAME, 'a', 1, statsDelta({ ...delta, limitReached: 3 }));
    await stats.record(REALNAME, 'b', 1, statsDelta(delta));
    expect(await stats.read(REALNAME)).toMatchObject({
      total: 18,
      succeededMs: 501,
      backpressure: 4,
      timeouts: 2,
      limitReached: 3,
    });
  });

  it('is zero before the first count, and for a worker that does not report it', async () => {
    const nothing = { succeededMs: 0, backpressure: 0, timeouts: 0, limitReached: 0 };
    expect(await live.store.stats.read(REALNAME)).toMatchObject(nothing);
    await live.store.stats.record(REALNAME, 'a', 1, statsDelta({ succeeded: 1, failed: 0, durationMs: 9 }));
    expect(await live.store.stats.read(REALNAME)).toMatchObject(nothing);
  });
});
