import { describe, expect, it } from 'vitest';
import { CardTotal } from '../../../src/operations/card-total.ts';
import { CardpollError } from '../../../src/platform/errors.ts';

/** A count that ends when told to, and a clock that stands still meanwhile. */
function counter() {
  const waiting: Array<{
    resolve: (total: number) => void;
    reject: (error: Error) => void;
  }> = [];
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const count = () => new Promise<number>((resolve, reject) => waiting.push({ resolve, reject }));
  return {
    waiting,
    total: new CardTotal(count, clock),
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
    const { total } = counter();
    expect(await total.read(30_000_000)).toBe(30_000_000);
  });

  it('passes on why it cannot count when it has nothing else', async () => {
    const { total, waiting } = counter();
    const read = total.read(0);
    waiting[0]?.reject(new CardpollError('unavailable', 'store_unreachable', 'gone'));
    await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
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
    total.expire();
    waiting[0]?.resolve(5);
    await first;
    const second = total.read(0);
    waiting[1]?.resolve(6);
    expect(await second).toBe(6);
  });
});
