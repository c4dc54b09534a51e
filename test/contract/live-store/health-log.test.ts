// Since when a problem has existed: kept while it is noted again, new after an end, the same for all instances.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeLiveStore } from './stores.ts';

const HOLDS_MS = 600_000;

describeLiveStore('health log', (live) => {
  it('knows nothing before anything was noted', async () => {
    expect(await live.store.health.since()).toEqual(new Map());
    await live.store.health.note([], HOLDS_MS);
    expect(await live.store.health.since()).toEqual(new Map());
  });

  it('keeps the beginning of a problem that any instance notes again', async () => {
    const before = await live.store.now();
    await live.store.health.note(['no_worker', 'package paused'], HOLDS_MS);
    const first = await live.store.health.since();
    expect([...first.keys()].sort()).toEqual(['no_worker', 'package paused']);
    for (const sinceMs of first.values()) expect(sinceMs).toBeGreaterThanOrEqual(Math.floor(before));
    await sleep(5);
    await (await live.another()).health.note(['package paused', 'init_stuck'], HOLDS_MS);
    const second = await live.store.health.since();
    expect(second.get('package paused')).toBe(first.get('package paused'));
    expect(second.get('no_worker')).toBe(first.get('no_worker'));
    expect(second.get('init_stuck')).toBeGreaterThan(first.get('no_worker') ?? 0);
  });

  it('forgets what was not noted again in time', async () => {
    const { health } = live.store;
    await health.note(['breaker_open'], HOLDS_MS);
    const first = (await health.since()).get('breaker_open') ?? 0;
    // Shorter from now on: it has ended a moment later.
    await health.note(['breaker_open'], 1);
    await sleep(5);
    expect(await health.since()).toEqual(new Map());
    await health.note(['breaker_open'], HOLDS_MS);
    expect((await health.since()).get('breaker_open')).toBeGreaterThan(first);
  });
});
