// Finding one card in the work of a task type: waiting, running, failing, in the manual list.
import { expect, it } from 'vitest';
import {
  claim,
  describeLiveStore,
  leasesToExpire,
  NO_BACKOFF,
  queueCards,
  REALNAME,
  settle,
} from './stores.ts';

const NOWHERE = {
  queued: null,
  running: null,
  retry: null,
  failuresInARow: 0,
  manual: { waiting: null, running: false },
};

describeLiveStore('place of a card', (live) => {
  const place = (cardId: number, entries: readonly string[] = []) =>
    live.store.work.place(REALNAME, cardId, entries);

  it('a card without work is nowhere', async () => {
    expect(await place(1, ['1', '1:t'])).toEqual(NOWHERE);
    await queueCards(live.store, [2]);
    expect(await place(1)).toEqual(NOWHERE);
    expect(await live.store.work.place('carddata', 2, [])).toEqual(NOWHERE);
  });

  it('shows when a queued card was due and how many cards are ahead of it', async () => {
    const before = await live.store.now();
    for (const cardId of [30, 10, 20]) await queueCards(live.store, [cardId]);
    const places = await Promise.all([30, 10, 20].map((cardId) => place(cardId)));
    expect(places.map(({ queued }) => queued?.before)).toEqual([0, 1, 2]);
    const due = places.map(({ queued }) => queued?.dueAtMs ?? 0);
    expect(due).toEqual([...due].sort((a, b) => a - b));
    expect(due[0]).toBeGreaterThan(before - 1_000);
    expect(due[2]).toBeLessThanOrEqual(await live.store.now());
  });

  it('distinguishes a call from a result that is being written', async () => {
    await queueCards(live.store, [1]);
    const { items } = await claim(live.store, 1, { leaseMs: 60_000 });
    const { queued, running } = await place(1);
    expect(queued).toBeNull();
    expect(running?.calling).toBe(true);
    expect(running?.leaseEndsAtMs).toBeGreaterThan((await live.store.now()) + 30_000);
    await live.store.work.release(REALNAME, items);
    expect((await place(1)).running?.calling).toBe(false);
    await settle(live.store, items, 'done');
    expect(await place(1)).toEqual(NOWHERE);
  });

  it('a card whose lease ended is due again', async () => {
    await queueCards(live.store, [1]);
    await claim(live.store, 1, { leaseMs: 20 });
    await leasesToExpire(live.store);
    expect(await place(1)).toMatchObject({ queued: { before: 0 }, running: null });
  });

  it('shows when a failing card is polled again, and its failures in a row', async () => {
    await queueCards(live.store, [1, 2]);
    const { items } = await claim(live.store, 2);
    const now = await live.store.now();
    for (const item of items) {
      const waitMs = item.cardId === 1 ? 30_000 : 60_000;
      await live.store.work.settle(REALNAME, [{ item, verdict: 'failed', random: 0, waitMs }], NO_BACKOFF);
    }
    const [first, second] = [await place(1), await place(2)];
    expect(first).toMatchObject({ queued: null, running: null, failuresInARow: 1, retry: { before: 0 } });
    expect(second.retry?.before).toBe(1);
    expect((first.retry?.atMs ?? 0) - now).toBeGreaterThan(29_000);
    expect((second.retry?.atMs ?? 0) - now).toBeGreaterThan(59_000);
  });

  it('a card that is left to its ring is nowhere, its failures known', async () => {
    await queueCards(live.store, [1]);
    await settle(live.store, (await claim(live.store, 1)).items, 'failed');
    expect(await place(1)).toEqual({ ...NOWHERE, failuresInARow: 1 });
  });

  it('finds the first of the manual entries that waits, and one that runs', async () => {
    await live.store.manual.push(REALNAME, ['7:a', '1:x', '8:a', '1:y']);
    expect((await place(1, ['1:y', '1:x'])).manual).toEqual({ waiting: { before: 1 }, running: false });
    expect((await place(1, ['1:y'])).manual).toEqual({ waiting: { before: 3 }, running: false });
    expect((await place(1, ['1'])).manual).toEqual({ waiting: null, running: false });
    await claim(live.store, 2);
    expect((await place(1, ['1:y', '1:x'])).manual).toEqual({ waiting: { before: 1 }, running: true });
  });
});
