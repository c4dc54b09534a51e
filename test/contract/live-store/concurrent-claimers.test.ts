// Many claimers at once, each with its own client: the limit holds, no card is lost, none runs twice at once.

import { expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { setLimit } from '../../support/limits.ts';
import { claim, describeLiveStore, queueCards, REALNAME, range, settle } from './stores.ts';

const LIMIT = 25;
const CARDS = 2_000;
const CLAIMERS = 6;

describeLiveStore('concurrent claimers', (live) => {
  it('together never exceed the limit, and do all work once', async () => {
    await setLimit(live.store.work, REALNAME, LIMIT);
    await queueCards(live.store, range(CARDS));
    await live.store.manual.push(REALNAME, range(200, 10_000).map(String));
    const clients = await Promise.all(range(CLAIMERS).map(() => live.another()));
    const running = new Set<string>();
    const done: string[] = [];
    let most = 0;
    const work = async (store: LiveStore, index: number): Promise<void> => {
      while (done.length < CARDS + 200) {
        const { items } = await claim(store, 7, { instanceId: `worker-${index}` });
        for (const item of items) {
          expect(running.has(item.member)).toBe(false);
          running.add(item.member);
        }
        most = Math.max(most, running.size);
        expect((await store.work.counts(REALNAME)).inFlight).toBeLessThanOrEqual(LIMIT);
        for (const item of items) running.delete(item.member);
        await store.work.release(REALNAME, items);
        await settle(store, items, 'done');
        done.push(...items.map((item) => item.member));
      }
    };
    await Promise.all(clients.map(work));
    expect(most).toBeLessThanOrEqual(LIMIT);
    expect(new Set(done).size).toBe(CARDS + 200);
    expect(done).toHaveLength(CARDS + 200);
    expect(await live.store.work.counts(REALNAME)).toMatchObject({
      queueLength: 0,
      inFlight: 0,
      manualLength: 0,
    });
  });

  it('claimers that reset slots in between never make the count negative or lose a card', async () => {
    await setLimit(live.store.work, REALNAME, LIMIT);
    await queueCards(live.store, range(300));
    const ended = new Set<number>();
    const work = async (_: unknown, index: number): Promise<void> => {
      const store = await live.another();
      for (let pass = 0; ended.size < 300 && pass < 2_000; pass += 1) {
        const { items } = await claim(store, 5, { instanceId: `worker-${index}` });
        if (index === 0 && pass % 5 === 0) {
          const { current } = await store.work.resetSlots(REALNAME);
          expect(current).toBeGreaterThanOrEqual(0);
        }
        const { fenced } = await settle(store, items, 'done');
        if (fenced === 0) for (const item of items) ended.add(item.cardId);
        const { inFlight, queueLength } = await store.work.counts(REALNAME);
        expect(inFlight).toBeGreaterThanOrEqual(0);
        if (queueLength === 0) return;
      }
    };
    await Promise.all(range(4).map(work));
    expect(await live.store.work.counts(REALNAME)).toMatchObject({ queueLength: 0, inFlight: 0 });
  });
});
