// Pauses of a task type: whose they are, how long they last, and that they can be seen and ended.
import { expect, it } from 'vitest';
import type { PauseSource } from '../../../src/domain/limits/operator-limits.ts';
import { pauseByOperator } from '../../support/limits.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, describeLiveStore, queueCards, REALNAME, range } from './stores.ts';

describeLiveStore('pauses', (live) => {
  const pause = (source: PauseSource, ms: number, reason = `${source} ${ms}`) =>
    source === 'gateway'
      ? live.store.work.pause(REALNAME, { ms, reason, by: 'by gateway' })
      : pauseByOperator(live.store.work, REALNAME, { ms, reason, by: 'by operator' });
  const pausedMs = async () => (await claim(live.store, 1)).pausedMs;

  it('nothing is claimed while one is in force, and it ends by itself', async () => {
    await queueCards(live.store, range(3));
    await pause('gateway', 3_000);
    const paused = await claim(live.store, 3);
    expect(paused.items).toEqual([]);
    expect(paused.pausedMs).toBeGreaterThan(0);
    expect(paused.pausedMs).toBeLessThanOrEqual(3_000);
    const { items } = await waitFor(async () => {
      const next = await claim(live.store, 3);
      return next.items.length > 0 ? next : null;
    });
    expect(items).toHaveLength(3);
    expect(await live.store.work.pauses()).toEqual([]);
  });

  it('counts how long the first of the cards that wait has been due', async () => {
    await queueCards(live.store, range(3));
    await pause('operator', 60_000);
    const { queued } = await live.store.work.place(REALNAME, 1, []);
    const waitedMs = async () => (await live.store.work.counts(REALNAME)).waitedMs;
    const long = await waitFor(async () => ((await waitedMs()) > 100 ? waitedMs() : null));
    const atMost = (await live.store.now()) - (queued?.dueAtMs ?? 0) + 64;
    expect(long).toBeLessThanOrEqual(atMost);
    await live.store.work.resume(REALNAME);
    await claim(live.store, 3);
    expect(await waitedMs()).toBe(0);
  });

  it('report who, why, since when and until when', async () => {
    const from = await live.store.now();
    await pause('operator', 60_000, 'maintenance: "网关" 100%\n');
    await live.store.work.pause('package', { ms: 5_000, reason: 'HTTP 429', by: 'w1' });
    const to = await live.store.now();
    const pauses = await live.store.work.pauses();
    expect(pauses).toMatchObject([
      {
        taskType: REALNAME,
        source: 'operator',
        reason: 'maintenance: "网关" 100%\n',
        by: 'by operator',
      },
      { taskType: 'package', source: 'gateway', reason: 'HTTP 429', by: 'w1' },
    ]);
    for (const { sinceMs, untilMs, source } of pauses) {
      expect(sinceMs).toBeGreaterThanOrEqual(Math.floor(from));
      expect(sinceMs).toBeLessThanOrEqual(to);
      expect(untilMs - sinceMs).toBe(source === 'operator' ? 60_000 : 5_000);
    }
    expect(await (await live.another()).work.pauses()).toEqual(pauses);
  });

  it("the gateway's is prolonged by a longer one and begins no later for it; a shorter one changes nothing", async () => {
    await pause('gateway', 30_000);
    const [first] = await live.store.work.pauses();
    await pause('gateway', 1_000);
    expect(await live.store.work.pauses()).toEqual([first]);
    await waitFor(async () => (await live.store.now()) > (first?.sinceMs ?? 0) + 20);
    await pause('gateway', 60_000);
    const [longer] = await live.store.work.pauses();
    expect(longer).toMatchObject({ sinceMs: first?.sinceMs, reason: 'gateway 60000' });
    expect(longer?.untilMs).toBeGreaterThan((first?.untilMs ?? 0) + 29_000);
  });

  it("an operator's replaces an operator's, also by a shorter one", async () => {
    await pause('operator', 60_000);
    await pause('operator', 10_000);
    expect(await live.store.work.pauses()).toMatchObject([{ reason: 'operator 10000' }]);
    expect(await pausedMs()).toBeLessThanOrEqual(10_000);
  });

  it.each([
    ['gateway', 'operator'],
    ['operator', 'gateway'],
  ] as const)("the %s's neither hides nor shortens the %s's", async (shorter, longer) => {
    await pause(longer, 60_000);
    await pause(shorter, 1_000);
    expect(await pausedMs()).toBeGreaterThan(50_000);
    expect((await live.store.work.pauses()).map((one) => one.source).sort()).toEqual(['gateway', 'operator']);
    await waitFor(async () => (await live.store.work.pauses()).length === 1, { what: 'the shorter to end' });
    expect(await live.store.work.pauses()).toMatchObject([{ source: longer }]);
    expect(await pausedMs()).toBeGreaterThan(50_000);
  });

  it('resume ends and returns both at once; other types stay paused', async () => {
    await queueCards(live.store, range(3));
    await pause('gateway', 60_000);
    await pause('operator', 60_000);
    await live.store.work.pause('package', { ms: 60_000, reason: 'r', by: 'w' });
    const ended = await live.store.work.resume(REALNAME);
    expect(ended.map((one) => one.source).sort()).toEqual(['gateway', 'operator']);
    expect(await live.store.work.resume(REALNAME)).toEqual([]);
    expect((await claim(live.store, 3)).items).toHaveLength(3);
    expect(await live.store.work.pauses()).toMatchObject([{ taskType: 'package' }]);
  });

  it('a reset of slots ends none', async () => {
    await pause('operator', 60_000);
    await live.store.work.resetSlots(REALNAME);
    expect(await pausedMs()).toBeGreaterThan(50_000);
  });
});
