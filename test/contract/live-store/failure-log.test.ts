// Why cards failed last: replaced, bounded, and without cards that have recovered.
import { expect, it } from 'vitest';
import { MAX_FAILURES_NOTED } from '../../../src/store/ports/live/poll-stats.ts';
import { claim, describeLiveStore, queueCards, REALNAME, settle } from './stores.ts';

const failure = (cardId: number, message = 'HTTP 500') => ({
  cardId,
  reason: 'http',
  message,
  durationMs: 12.5,
});

describeLiveStore('failure log', (live) => {
  it('knows nothing of a card that never failed', async () => {
    expect(await live.store.failures.last(REALNAME, [1])).toEqual(new Map());
    expect(await live.store.failures.failing(REALNAME, 10)).toEqual({ total: 0, latest: [] });
  });

  it('keeps the last failure of a card, by task type', async () => {
    const { failures } = live.store;
    await failures.note(REALNAME, [failure(1, 'first'), failure(2)]);
    const before = (await failures.last(REALNAME, [1])).get(1)?.atMs as number;
    await failures.note(REALNAME, [failure(1, 'second: "quoted"\n')]);
    const last = (await failures.last(REALNAME, [1])).get(1);
    expect(last).toMatchObject({ ...failure(1, 'second: "quoted"\n'), failuresInARow: 0 });
    expect(last?.atMs).toBeGreaterThanOrEqual(before);
    expect(await failures.last('package', [1])).toEqual(new Map());
  });

  it('lists the cards that fail still, the latest first', async () => {
    const { failures } = live.store;
    await queueCards(live.store, [1, 2, 3]);
    const { items } = await claim(live.store, 3);
    const ofCard = (cardId: number) => items.filter((item) => item.cardId === cardId);
    await failures.note(REALNAME, [failure(1)]);
    await failures.note(REALNAME, [failure(2)]);
    await settle(live.store, [...ofCard(1), ...ofCard(2)], 'failed');
    // Failed by hand, or before it was polled successfully: it is not failing now.
    await failures.note(REALNAME, [failure(3)]);
    await settle(live.store, ofCard(3), 'done');
    const { total, latest } = await failures.failing(REALNAME, 10);
    expect(total).toBe(2);
    expect(latest.map(({ cardId, failuresInARow }) => ({ cardId, failuresInARow }))).toEqual([
      { cardId: 2, failuresInARow: 1 },
      { cardId: 1, failuresInARow: 1 },
    ]);
    expect((await failures.failing(REALNAME, 1)).latest).toMatchObject([{ cardId: 2 }]);
  });

  it('forgets the oldest beyond its bound', async () => {
    const { failures } = live.store;
    await failures.note(REALNAME, [failure(1)]);
    await failures.note(
      REALNAME,
      Array.from({ length: MAX_FAILURES_NOTED }, (_, i) => failure(i + 2)),
    );
    const last = await failures.last(REALNAME, [1, 2, MAX_FAILURES_NOTED + 1]);
    expect([...last.keys()]).toEqual([2, MAX_FAILURES_NOTED + 1]);
  });
});
