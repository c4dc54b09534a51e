import { describe, expect, it } from 'vitest';
import { CardTotal } from '../../../../src/operations/cards/card-total.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';

/** A count that the test ends, a planner with an estimate, and a clock that does not move meanwhile. */
function counter({ estimate = async () => 0 } = {}) {
  const waiting: Array<{
    resolve: (total: number) => void;
    reject: (error: Error) => void;
  }> = [];
  let nowMs = 0;
  const clock = { monotonic: () => nowMs, sleep: systemClock.sleep };
  const count = () => new Promise<number>((resolve, reject) => waiting.push({ resolve, reject }));
  return {
    waiting,
    total: new CardTotal({ count, estimate }, clock),
    pass: (ms: number) => (nowMs += ms),
  };
}

describe('CardTotal', () => {
  it('counts once for readers that come together and for those who come soon after', async () => {
    const { total, waiting, pass } = counter();
    const readers = Promise.all([total.read(0), total.read(0)]);
    pass(100);
    waiting[0]?.resolve(42);
    expect(await readers).toEqual([42, 42]);
    pass(1_999); // the count took 100 ms, so it is good for 2 s
    expect(await total.read(0)).toBe(42);
    expect(waiting).toHaveLength(1);
  });

  it('counts again when the last count is old, and serves the last one while that takes long', async () => {
    const { total, waiting, pass } = counter();
    const first = total.read(0);
    waiting[0]?.resolve(1);
    await first;
    pass(1_000);
    expect(await total.read(0)).toBe(1);
    waiting[1]?.resolve(2);
    await expect.poll(() => total.read(0)).toBe(2);
    expect(waiting).toHaveLength(2);
  });

  it('makes do with the estimate while the first count takes long', async () => {
    const { total } = counter({ estimate: async () => 30_100_000 });
    expect(await total.read(30_000_000)).toBe(30_100_000);
  });

  it('makes do with the hint where the estimate is unknown, fails or takes long', async () => {
    const estimates = [
      async () => 0,
      () => Promise.reject(new Error('gone')),
      () => new Promise<number>(() => {}),
    ];
    for (const estimate of estimates) {
      const { total } = counter({ estimate });
      expect(await total.read(30_000_000)).toBe(30_000_000);
    }
  });

  it('shows a small fleet exactly from the first reader on, whatever the planner believes', async () => {
    const { total, waiting } = counter({ estimate: async () => 900 });
    const read = total.read(1_000);
    waiting[0]?.resolve(1_234);
    expect(await read).toBe(1_234);
  });

  it('waits for no count that turned out to be slow, nor for the next', async () => {
    const { total, waiting, pass } = counter();
    const first = total.read(0);
    pass(2_000);
    waiting[0]?.resolve(10_000_000);
    await first;
    pass(40_000);
    const order: string[] = [];
    const second = total.read(0).then(() => order.push('read'));
    setImmediate(() => order.push('turn of the event loop'));
    await second;
    expect(waiting).toHaveLength(2);
    expect(order).toEqual(['read']);
  });

  it('adds what was imported to the last count until the next', async () => {
    const { total, waiting, pass } = counter();
    const first = total.read(0);
    pass(10_000);
    waiting[0]?.resolve(10_000_000);
    await first;
    total.imported(500_000);
    expect(await total.read(0)).toBe(10_500_000);
    expect(waiting).toHaveLength(1);
  });

  it('counts no new card twice when a count runs during an import', async () => {
    const { total, waiting, pass } = counter();
    const first = total.read(0);
    pass(10_000);
    waiting[0]?.resolve(1_000);
    await first;
    total.imported(500_000);
    pass(200_000);
    await total.read(0); // the second count starts and sees the first half million
    total.imported(300_000);
    expect(await total.read(0)).toBe(801_000);
    waiting[1]?.resolve(501_000);
    await expect.poll(() => total.read(0)).toBe(801_000);
    total.imported(200_000);
    expect(await total.read(0)).toBe(1_001_000);
  });

  it('counts after five minutes whatever the last one took: it may have been an outage', async () => {
    const { total, waiting, pass } = counter({ estimate: async () => 7 });
    await total.read(0);
    pass(40_000);
    waiting[0]?.reject(new Error('gone'));
    await expect.poll(() => total.read(0)).toBe(7);
    pass(300_000);
    await total.read(0);
    expect(waiting).toHaveLength(2);
  });

  it.each(['gives a number', 'fails'])('rests twenty times as long as a count took that %s', async (how) => {
    const { total, waiting, pass } = counter({ estimate: async () => 9_000_000 });
    await total.read(0);
    pass(10_000);
    if (how === 'fails')
      waiting[0]?.reject(new CardpollError('unavailable', 'store_unreachable', 'time limit'));
    else waiting[0]?.resolve(10_000_000);
    const shown = how === 'fails' ? 9_000_000 : 10_000_000;
    await expect.poll(() => total.read(0)).toBe(shown);
    total.imported(0); // not even for new cards
    pass(199_999);
    expect(await total.read(0)).toBe(shown);
    expect(waiting).toHaveLength(1);
    pass(1);
    await total.read(0);
    expect(waiting).toHaveLength(2);
  });

  it('passes on why it cannot count when it has nothing else', async () => {
    const { total, waiting } = counter();
    const read = total.read(0);
    waiting[0]?.reject(new CardpollError('unavailable', 'store_unreachable', 'gone'));
    await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('counts again for a reader who comes after an error and finds nothing else', async () => {
    const { total, waiting, pass } = counter();
    const first = total.read(0);
    pass(10_000);
    waiting[0]?.reject(new CardpollError('unavailable', 'store_unreachable', 'gone'));
    await expect(first).rejects.toThrow('gone');
    pass(100);
    const second = total.read(0);
    await expect.poll(() => waiting.length).toBe(2);
    waiting[1]?.resolve(5);
    expect(await second).toBe(5);
  });

  it('keeps the last count while counting fails', async () => {
    const { total, waiting, pass } = counter();
    const first = total.read(0);
    waiting[0]?.resolve(5);
    await first;
    pass(1_000);
    const second = total.read(0);
    waiting[1]?.reject(new Error('gone'));
    expect(await second).toBe(5);
  });

  it('does not trust a count that began before new cards came', async () => {
    const { total, waiting } = counter();
    const first = total.read(0);
    total.imported(0);
    waiting[0]?.resolve(5);
    await first;
    const second = total.read(0);
    waiting[1]?.resolve(6);
    expect(await second).toBe(6);
  });
});
