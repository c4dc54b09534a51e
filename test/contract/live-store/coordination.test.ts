// Leases with fencing, live workers, the progress of initialisation.
import { expect, it } from 'vitest';
import type { InstanceInfo } from '../../../src/store/ports/live/coordination.ts';
import { NEVER_RECONCILED } from '../../../src/store/ports/live/coordination.ts';
import { statsDelta } from '../../support/stats-delta.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, describeLiveStore, queueCards, REALNAME, range } from './stores.ts';

function worker(instanceId: string): InstanceInfo {
  return {
    instanceId,
    hostname: 'host-a',
    pid: 42,
    version: '1.2.3',
    roles: ['worker', 'scheduler'],
    probeAddress: instanceId === 'a' ? '127.0.0.1:7481' : null,
    startedAtMs: 1_700_000_000_000,
    heartbeatAtMs: 1_700_000_001_000,
    inFlight: 3,
    cacheHits: 10,
    cacheMisses: 2,
    breakers: [
      {
        interface: 'flow',
        state: 'open',
        sinceMs: 1_700_000_000_500,
        reason: '20 of 20 calls in 10 s were gateway faults',
        nextProbeAtMs: 1_700_000_005_500,
      },
      { interface: 'gateway', state: 'half_open', sinceMs: 1, reason: 'time to probe', nextProbeAtMs: null },
    ],
    reloadFailure: instanceId === 'b' ? null : { sinceMs: 1_700_000_000_800, reason: 'no file' },
    logTrouble: instanceId === 'b' ? 'worker.log: no space' : null,
    gone: instanceId === 'b' ? [{ instanceId: 'c', atMs: 1_700 }] : [],
    failing: instanceId === 'b' ? { part: 'cleaner', sinceMs: 1_500, reason: 'permission denied' } : null,
    outsideHeartbeat: instanceId === 'b' ? { sentAtMs: 1_000, trouble: 'answered 500' } : null,
    putBack:
      instanceId === 'b'
        ? [{ atMs: 2_000, text: 'the limit of carddata was 40 in Redis and is 5 again' }]
        : [],
    timeZone: instanceId === 'a' ? 'Asia/Shanghai' : 'UTC',
    stopMode: instanceId === 'a' ? 'enforce' : 'observe',
    clockAheadMs: 0,
    databaseOutage: instanceId === 'a' ? null : { sinceMs: 1_700_000_000_700, reason: 'no answer' },
  };
}

describeLiveStore('coordination', (live) => {
  it('gives a lease to one holder and the same token while it renews', async () => {
    const other = await live.another();
    const fence = await live.store.coordination.lead('scheduler', 'a', 60_000);
    expect(fence).toBeGreaterThan(0);
    expect(await other.coordination.lead('scheduler', 'b', 60_000)).toBeNull();
    expect(await live.store.coordination.lead('scheduler', 'a', 60_000)).toBe(fence);
    expect(await other.coordination.lead('cleaner', 'b', 60_000)).not.toBeNull();
  });

  it('gives an expired lease to the next holder with a greater token', async () => {
    const first = (await live.store.coordination.lead('scheduler', 'a', 100)) as number;
    const second = await waitFor(() => live.store.coordination.lead('scheduler', 'b', 60_000));
    expect(second).toBeGreaterThan(first);
    expect(await live.store.coordination.lead('scheduler', 'a', 100)).toBeNull();
  });

  it('begins its tokens at the present time, so that those of a store that lost its data stay lower', async () => {
    const before = Math.floor(await live.store.now());
    const first = (await live.store.coordination.lead('scheduler', 'a', 60_000)) as number;
    expect(first).toBeGreaterThanOrEqual(before);
    await live.store.coordination.resign('scheduler', 'a');
    await waitFor(async () => (await live.store.now()) > first + 100, { what: 'time to pass' });
    const now = Math.floor(await live.store.now());
    expect(await live.store.coordination.lead('scheduler', 'a', 60_000)).toBeGreaterThanOrEqual(now);
  });

  it('a lease that was resigned is free at once; only its holder can resign it', async () => {
    const first = (await live.store.coordination.lead('scheduler', 'a', 60_000)) as number;
    await live.store.coordination.resign('scheduler', 'b');
    expect(await live.store.coordination.lead('scheduler', 'b', 60_000)).toBeNull();
    await live.store.coordination.resign('scheduler', 'a');
    await live.store.coordination.resign('scheduler', 'a');
    expect(await live.store.coordination.lead('scheduler', 'b', 60_000)).toBeGreaterThan(first);
  });

  it('one of many takes the lease', async () => {
    const clients = await Promise.all(range(5).map(() => live.another()));
    const fences = await Promise.all(
      clients.map((store, i) => store.coordination.lead('x', `holder-${i}`, 60_000)),
    );
    expect(fences.filter((fence) => fence !== null)).toHaveLength(1);
  });

  it('lists live workers, updates them, and forgets those that leave', async () => {
    await live.store.coordination.heartbeat(worker('b'), 60_000);
    await live.store.coordination.heartbeat(worker('a'), 60_000);
    await live.store.coordination.heartbeat({ ...worker('b'), inFlight: 9 }, 60_000);
    expect(await live.store.coordination.instances()).toEqual([worker('a'), { ...worker('b'), inFlight: 9 }]);
    await live.store.coordination.leave('a');
    await live.store.coordination.leave('a');
    expect((await live.store.coordination.instances()).map((info) => info.instanceId)).toEqual(['b']);
    expect(await live.store.coordination.reapInstances()).toEqual([]);
  });

  it('dates what an instance says by its own clock', async () => {
    const before = await live.store.now();
    const sent = { ...worker('b'), clockAheadMs: -600_000 };
    expect(await live.store.coordination.heartbeat(sent, 60_000)).toBeGreaterThanOrEqual(Math.floor(before));
    const [read] = await live.store.coordination.instances();
    expect(read).toEqual({
      ...sent,
      startedAtMs: sent.startedAtMs + 600_000,
      gone: [{ instanceId: 'c', atMs: 601_700 }],
      failing: { part: 'cleaner', sinceMs: 601_500, reason: 'permission denied' },
      outsideHeartbeat: { sentAtMs: 601_000, trouble: 'answered 500' },
      putBack: [{ atMs: 602_000, text: 'the limit of carddata was 40 in Redis and is 5 again' }],
      heartbeatAtMs: sent.heartbeatAtMs + 600_000,
      breakers: sent.breakers.map(({ sinceMs, nextProbeAtMs, ...breaker }) => ({
        ...breaker,
        sinceMs: sinceMs + 600_000,
        nextProbeAtMs: nextProbeAtMs === null ? null : nextProbeAtMs + 600_000,
      })),
      databaseOutage: { sinceMs: 1_700_000_600_700, reason: 'no answer' },
    });
    await live.store.coordination.heartbeat({ ...worker('a'), clockAheadMs: 900 }, 60_000);
    const [agreeing] = await live.store.coordination.instances();
    expect(agreeing).toEqual({ ...worker('a'), clockAheadMs: 900 });
    expect((await live.store.coordination.instances())[1]).toEqual(read);
  });

  it('reaps workers whose heartbeat ran out, with what was kept for them', async () => {
    await live.store.coordination.heartbeat(worker('dead-1'), 100);
    await live.store.coordination.heartbeat(worker('dead-2'), 100);
    await live.store.coordination.heartbeat(worker('alive'), 60_000);
    await live.store.stats.record(
      REALNAME,
      'dead-1',
      9,
      statsDelta({ succeeded: 1, failed: 0, durationMs: 1 }),
    );
    await queueCards(live.store, range(2));
    await claim(live.store, 1, { instanceId: 'dead-1' });
    await waitFor(async () => (await live.store.coordination.instances()).length === 1);
    expect(await live.store.coordination.reapInstances()).toEqual(['dead-1', 'dead-2']);
    expect(await live.store.coordination.reapInstances()).toEqual([]);
    expect((await live.store.coordination.instances()).map((info) => info.instanceId)).toEqual(['alive']);
    await live.store.stats.record(
      REALNAME,
      'dead-1',
      9,
      statsDelta({ succeeded: 1, failed: 0, durationMs: 1 }),
    );
    expect((await live.store.stats.read(REALNAME)).succeeded).toBe(2);
  });

  it('keeps the progress of initialisation', async () => {
    const fresh = await live.store.coordination.initProgress();
    expect(fresh).toEqual({
      status: 'pending',
      total: 0,
      loaded: 0,
      lastCardId: 0,
      batch: 0,
      batches: 0,
      startedAtMs: null,
      updatedAtMs: null,
      finishedAtMs: null,
      changeMark: '',
      reason: 'build',
    });
    const running = {
      status: 'running' as const,
      total: 10_000_000,
      loaded: 200_000,
      lastCardId: 89_860_012_345,
      batch: 2,
      batches: 100,
      startedAtMs: 1_795_000_000_123,
      updatedAtMs: 1_795_000_001_456,
      finishedAtMs: null,
      changeMark: '2026-11-21T09:00:00.123456Z/77',
      reason: 'build' as const,
    };
    await live.store.coordination.saveInitProgress(running);
    expect(await (await live.another()).coordination.initProgress()).toEqual(running);
    await live.store.coordination.saveInitProgress({
      ...running,
      status: 'completed',
      finishedAtMs: 1_795_000_002_000,
    });
    expect(await live.store.coordination.initProgress()).toMatchObject({ finishedAtMs: 1_795_000_002_000 });
  });

  it('keeps the state of reconciliation, and a request separately', async () => {
    expect(await live.store.coordination.reconciliation()).toEqual(NEVER_RECONCILED);
    const state = {
      reason: 'live_store_replaced' as const,
      position: 'ring:3:0.25',
      checked: 10_000_000,
      counting: '7:1:100,8:0:3',
      counted: '7:1:900',
      healed: 7,
      startedAtMs: 1_795_000_000_123,
      sweptAtMs: null,
      healedMissing: 4,
      healedForeign: 2,
      healedDouble: 1,
      liveIdentity: 'abc def',
      recordIdentity: '7329/00000002',
      requestedMs: 0,
      answeredRequestMs: 1_794_000_000_000,
    };
    await live.store.coordination.saveReconciliation(state);
    const other = await live.another();
    await other.coordination.requestReconciliation(1_795_000_000_500);
    // What the leader saves, not knowing of the request, leaves it standing.
    await live.store.coordination.saveReconciliation({ ...state, checked: 10_000_001 });
    expect(await other.coordination.reconciliation()).toEqual({
      ...state,
      checked: 10_000_001,
      requestedMs: 1_795_000_000_500,
    });
  });

  it('belongs to the fleet that claims it first', async () => {
    const [ours, theirs] = [
      { id: 'a-1', name: 'the first one' },
      { id: 'b-2', name: 'x' },
    ];
    const other = await live.another();
    expect(await live.store.coordination.fleet()).toBeNull();
    expect(await live.store.coordination.claimFleet(ours)).toEqual(ours);
    expect(await other.coordination.claimFleet(theirs)).toEqual(ours);
    expect(await other.coordination.claimFleet({ ...ours, name: 'renamed' })).toEqual(ours);
    await other.coordination.forgetFleet();
    expect(await live.store.coordination.fleet()).toBeNull();
    expect(await other.coordination.claimFleet(theirs)).toEqual(theirs);
  });

  it('belongs to one of those that claim it at the same time', async () => {
    const claims = Array.from({ length: 20 }, async (_, i) =>
      (await live.another()).coordination.claimFleet({ id: String(i), name: 'x' }),
    );
    expect(new Set((await Promise.all(claims)).map(({ id }) => id)).size).toBe(1);
  });

  it('has an identity that stays while the store runs', async () => {
    const identity = await live.store.identity();
    expect(identity).not.toBe('');
    expect(await (await live.another()).identity()).toBe(identity);
  });
});
