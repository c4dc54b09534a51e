// Grants of gateway calls by rate limits: exact, fair, and given back without a trace.
import { describe, expect, it } from 'vitest';
import { bucketOf } from '../../../src/domain/limits/rate-limit.ts';
import { TASK_TYPES, TASKS } from '../../../src/domain/task-type.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { PaceGrant, PaceLimit, PaceParticipant } from '../../../src/store/ports/live/pace.ts';
import { GrantRecord } from '../../support/grant-record.ts';
import { waitFor } from '../../support/wait-for.ts';
import { describeLiveStore } from './stores.ts';

const ALL: PaceLimit = { id: 'all/second', interfaces: null, perSecond: 100, burst: 20 };
const FLOW: PaceLimit = { id: 'flow/second', interfaces: ['flow'], perSecond: 10, burst: 2 };
const CAPACITY = bucketOf(ALL).capacity;
/** Takers on a busy machine may be late by half a second: what a bucket cannot hold meanwhile is lost. */
const ROOMY: PaceLimit = { ...ALL, burst: 200 };
const ROOMY_FLOW: PaceLimit = { ...FLOW, burst: 20 };

function take(
  store: LiveStore,
  participant: PaceParticipant,
  calls: number,
  limits: readonly PaceLimit[] = [ALL],
): Promise<PaceGrant> {
  const interfaceName =
    participant === 'follow_up' ? 'stop' : TASKS[participant === 'order' ? 'package' : participant].interface;
  return store.pace.take({ participant, interfaceName, calls, limits });
}

/** Waits until the bucket is full, by a participant of its own. */
async function fill(store: LiveStore, limits: readonly PaceLimit[] = [ALL], withinMs = 600): Promise<void> {
  await take(store, 'follow_up', 0, limits);
  const startedAt = performance.now();
  await waitFor(async () => {
    await take(store, 'follow_up', 0, limits);
    return performance.now() - startedAt > withinMs;
  });
}

describeLiveStore('pace', (context) => {
  it('begins empty, and says when the next call is granted', async () => {
    const slow = { ...ALL, perSecond: 2, burst: 2 };
    const first = await take(context.store, 'realname', 5, [slow]);
    expect(first).toMatchObject({ calls: 0, lifeMs: 500 });
    expect(first.waitMs).toBeGreaterThan(250);
    expect(first.waitMs).toBeLessThanOrEqual(500);
    await waitFor(async () => (await take(context.store, 'realname', 5, [slow])).calls === 1);
  });

  it('grants everything where nothing is limited', async () => {
    const slow = { ...FLOW, perSecond: 0.01 };
    expect(await take(context.store, 'realname', 7, [slow])).toMatchObject({ calls: 7, waitMs: 0 });
    expect(await take(context.store, 'carddata', 7, [slow])).toMatchObject({ calls: 0 });
  });

  it('grants what a full bucket holds, and no more', async () => {
    await fill(context.store);
    const { calls } = await take(context.store, 'realname', 1_000);
    expect(calls).toBe(CAPACITY);
  });

  it('many takers use the rate, share it, and never exceed it', async () => {
    const stores = [context.store, await context.another(), await context.another()];
    const record = new GrantRecord();
    const until = performance.now() + 3_000;
    const takers = stores.flatMap((store) =>
      TASK_TYPES.map(async (taskType) => {
        while (performance.now() < until) {
          const sentAt = performance.now();
          const { calls, waitMs } = await take(store, taskType, 50, [ROOMY]);
          record.add(taskType, calls, sentAt, performance.now());
          await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 100)));
        }
      }),
    );
    await Promise.all(takers);
    record.expectWithin(bucketOf(ROOMY));
    const ideal = (record.spanMs * ALL.perSecond) / 1_000;
    expect(record.total).toBeGreaterThan(0.85 * ideal);
    // Three seconds: on a busy machine a type misses some of its turns. test/long/pace.test.ts asks for 80 %.
    for (const taskType of TASK_TYPES) {
      expect(record.of(taskType), taskType).toBeGreaterThan((0.7 * record.total) / TASK_TYPES.length);
    }
  });

  it('a type that wants little leaves the rest to the others, and follow-up calls come first', async () => {
    const record = new GrantRecord();
    const until = performance.now() + 3_000;
    const waits: number[] = [];
    const greedy = ['realname', 'package'] as const;
    const takers = greedy.map(async (taskType) => {
      while (performance.now() < until) {
        const sentAt = performance.now();
        const { calls, waitMs } = await take(context.store, taskType, 50, [ROOMY]);
        record.add(taskType, calls, sentAt, performance.now());
        await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 100)));
      }
    });
    const rare = async (participant: PaceParticipant) => {
      while (performance.now() < until) {
        let refused = 0;
        for (;;) {
          const sentAt = performance.now();
          const { calls, waitMs } = await take(context.store, participant, 1, [ROOMY]);
          record.add(participant, calls, sentAt, performance.now());
          if (calls === 1) break;
          refused += 1;
          await new Promise((resolve) => setTimeout(resolve, waitMs));
        }
        if (participant === 'follow_up') waits.push(refused);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    };
    await Promise.all([...takers, rare('carddata'), rare('follow_up')]);
    record.expectWithin(bucketOf(ROOMY));
    expect(record.total).toBeGreaterThan(0.85 * ((record.spanMs * ALL.perSecond) / 1_000));
    for (const taskType of greedy) expect(record.of(taskType)).toBeGreaterThan(0.35 * record.total);
    expect(record.of('carddata')).toBeGreaterThanOrEqual(5);
    expect(record.of('follow_up')).toBeGreaterThanOrEqual(5);
    expect(Math.max(...waits), 'the next call is its own').toBeLessThanOrEqual(3);
  });

  it('keeps half of a full bucket for a type that asks late, not all of it', async () => {
    const half = Math.ceil(CAPACITY / 2);
    let askedAt: number;
    let calls: number;
    do {
      await fill(context.store);
      await take(context.store, 'carddata', 1_000);
      askedAt = performance.now();
      await take(context.store, 'realname', 1_000);
      await fill(context.store, [ALL], 100);
      ({ calls } = await take(context.store, 'carddata', 1_000));
      // On a busy machine the turn of realname may be over by now: it is kept for half a second.
    } while (performance.now() - askedAt > 450);
    expect(calls).toBe(CAPACITY - half);
    expect((await take(context.store, 'realname', 1_000)).calls).toBeGreaterThanOrEqual(half);
  });

  it('a limit that is short for one type holds up no other', async () => {
    const limits = [ROOMY, ROOMY_FLOW];
    const counted = { realname: 0, carddata: 0 };
    const until = performance.now() + 2_000;
    const taker = async (taskType: 'realname' | 'carddata') => {
      while (performance.now() < until) {
        const { calls, waitMs } = await take(context.store, taskType, 50, limits);
        counted[taskType] += calls;
        await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 50)));
      }
    };
    await Promise.all([taker('realname'), taker('carddata')]);
    expect(counted.carddata).toBeGreaterThanOrEqual(10);
    expect(counted.carddata, 'ten a second, and the burst').toBeLessThanOrEqual(2.5 * 10 + ROOMY_FLOW.burst);
    expect(counted.realname).toBeGreaterThan(120);
  });

  describe('calls that are given back', () => {
    it('are granted again, once', async () => {
      await fill(context.store);
      const grant = await take(context.store, 'realname', CAPACITY);
      await context.store.pace.giveBack({ participant: 'realname' }, grant, CAPACITY);
      await context.store.pace.giveBack({ participant: 'realname' }, grant, CAPACITY);
      expect((await take(context.store, 'carddata', 1_000)).calls).toBe(CAPACITY);
    });

    it('are granted again once where the bucket was not full', async () => {
      const slow = { ...ALL, perSecond: 20 };
      const { capacity, perMs } = bucketOf(slow);
      await fill(context.store, [slow]);
      const startedAt = performance.now();
      await take(context.store, 'realname', capacity - 4, [slow]);
      const grant = await take(context.store, 'realname', 4, [slow]);
      expect(grant.calls).toBe(4);
      for (let i = 0; i < 2; i += 1) await context.store.pace.giveBack({ participant: 'realname' }, grant, 4);
      const { calls } = await take(context.store, 'realname', 1_000, [slow]);
      expect(calls).toBeGreaterThanOrEqual(4);
      expect(calls, 'and what has become due').toBeLessThanOrEqual(
        4 + perMs * (performance.now() - startedAt),
      );
    });

    it('are not granted on top of a bucket that has filled meanwhile', async () => {
      const slow = { ...ALL, perSecond: 20 };
      const { capacity, perMs } = bucketOf(slow);
      await fill(context.store, [slow]);
      const grant = await take(context.store, 'realname', capacity, [slow]);
      await fill(context.store, [slow]);
      const emptiedAt = performance.now();
      const { calls } = await take(context.store, 'carddata', 1_000, [slow]);
      await context.store.pace.giveBack({ participant: 'realname' }, grant, capacity);
      const next = await take(context.store, 'carddata', 1_000, [slow]);
      expect(calls).toBe(capacity);
      expect(next.calls, 'what has become due').toBeLessThanOrEqual(perMs * (performance.now() - emptiedAt));
    });
  });

  it('with different values on two instances, the stricter is in force', async () => {
    const other = await context.another();
    await take(other, 'realname', 0, [{ ...ALL, perSecond: 5, burst: 2 }]);
    await fill(context.store);
    const grant = await take(context.store, 'realname', 1_000);
    expect(grant.calls).toBeLessThanOrEqual(2);
    expect(await context.store.pace.states()).toMatchObject([{ id: ALL.id, perSecond: 5, burst: 2 }]);
  });

  it('a limit that only another instance knows is in force', async () => {
    const other = await context.another();
    await take(other, 'carddata', 0, [FLOW]);
    expect((await take(context.store, 'carddata', 50, [])).calls).toBeLessThanOrEqual(2);
    expect((await take(context.store, 'realname', 50, [])).calls).toBe(50);
  });

  it('reports the limits in force and who waits', async () => {
    expect(await context.store.pace.states()).toEqual([]);
    await fill(context.store, [ALL, FLOW]);
    await take(context.store, 'realname', 2, [ALL, FLOW]);
    await take(context.store, 'carddata', 50, [ALL, FLOW]);
    const [all, flow] = await context.store.pace.states();
    expect(all).toMatchObject({ ...ALL, waiting: [] });
    expect(all?.granted).toBeGreaterThanOrEqual(3);
    expect(flow).toMatchObject({ ...FLOW, waiting: ['carddata'] });
  });
});
