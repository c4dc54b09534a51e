import { describe, expect, it } from 'vitest';
import { Bulkhead } from '../../../src/platform/bulkhead.ts';
import { waitFor } from '../../support/wait-for.ts';

const full = () => new Error('full');

/** Work that runs until it is told to end. */
function held() {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => over, end };
}

describe('places', () => {
  it('are given in the order of arrival, and never to more than there are', async () => {
    const bulkhead = new Bulkhead({ places: 2, waitMs: null }, full);
    const started: number[] = [];
    const works = [0, 1, 2, 3].map(held);
    const runs = works.map(({ work }, index) =>
      bulkhead.run(() => {
        started.push(index);
        return work();
      }),
    );
    await waitFor(() => started.length === 2);
    works[1]?.end();
    await runs[1];
    await waitFor(() => started.length === 3);
    expect(started).toEqual([0, 1, 2]);
    for (const { end } of works) end();
    await Promise.all(runs);
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it('are free again after work that failed', async () => {
    const bulkhead = new Bulkhead({ places: 1, waitMs: null }, full);
    await expect(bulkhead.run(() => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(await bulkhead.run(async () => 'next')).toBe('next');
  });

  it('are waited for until the time in line is over', async () => {
    const bulkhead = new Bulkhead({ places: 1, waitMs: 5 }, full);
    const { work, end } = held();
    const first = bulkhead.run(work);
    await expect(bulkhead.run(async () => {})).rejects.toThrow('full');
    end();
    await first;
    expect(await bulkhead.run(async () => 'next')).toBe('next');
  });

  it('have a line of a thousand', async () => {
    const bulkhead = new Bulkhead({ places: 1, waitMs: null }, full);
    const { work, end } = held();
    const runs = Array.from({ length: 1_001 }, () => bulkhead.run(work));
    await expect(bulkhead.run(work)).rejects.toThrow('full');
    end();
    await Promise.all(runs);
  });
});

describe('a budget of time', () => {
  const budget = { share: 0.5, burstMs: 40, leastMs: 20 };

  it('lets a burst pass, and then a share of the time', async () => {
    const bulkhead = new Bulkhead({ places: 1, waitMs: null, budget }, full);
    const startedMs = performance.now();
    for (let index = 0; index < 10; index += 1) await bulkhead.run(async () => {});
    // Ten times 20 ms; 40 ms are the burst, the last 20 ms are only owed, and the rest is refilled at half the pace of the clock.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual((200 - 40 - 20) / 0.5 - 5);
  });

  it('refuses what would wait too long for it', async () => {
    const bulkhead = new Bulkhead(
      { places: 1, waitMs: 5, budget: { share: 0.000_1, burstMs: 30, leastMs: 20 } },
      full,
    );
    await bulkhead.run(async () => {});
    await bulkhead.run(async () => {});
    await expect(bulkhead.run(async () => {})).rejects.toThrow('full');
  });
});
