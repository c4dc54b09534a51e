import { expect, it, onTestFinished, vi } from 'vitest';
import { ExpensiveReads, PacedReads } from '../../../../src/api/guard/expensive-reads.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('an answer is made once a second, and all who wait for it share it', async () => {
  const clock = new FakeClock();
  let made = 0;
  const pace = new PacedReads(1_000, clock);
  const read = () => pace.read('page', async () => `page ${++made}`);
  const first = [read(), read()];
  await clock.run(10);
  expect(await Promise.all(first)).toEqual(['page 1', 'page 1']);
  const second = [read(), read(), read()];
  await clock.run(900);
  expect(made).toBe(1);
  await clock.run(100);
  expect(await Promise.all(second)).toEqual(['page 2', 'page 2', 'page 2']);
});

it('a request while an answer is made gets the next one', async () => {
  const clock = new FakeClock();
  let made = 0;
  const pace = new PacedReads(1_000, clock);
  const read = () =>
    pace.read('page', async () => {
      const number = ++made;
      await clock.sleep(300);
      return `page ${number}`;
    });
  const first = read();
  await clock.run(100);
  const second = read();
  await clock.run(1_300);
  expect([await first, await second]).toEqual(['page 1', 'page 2']);
});

it('different answers do not wait for each other, and nothing is kept of what no one asks for', async () => {
  const clock = new FakeClock();
  const pace = new PacedReads(1_000, clock);
  const answers = [1, 2, 3].map((page) => pace.read(`page ${page}`, async () => page));
  await clock.run(10);
  expect(await Promise.all(answers)).toEqual([1, 2, 3]);
  await clock.run(1_000);
  expect(clock.sleepers).toBe(0);
});

it('an answer that fails fails for those who waited for it, and for no one later', async () => {
  const pace = new PacedReads(1, systemClock);
  const fails = async () => {
    throw new Error('no store');
  };
  await expect(pace.read('page', fails)).rejects.toThrow('no store');
  expect(await pace.read('page', async () => 'page')).toBe('page');
});

it('lets exports read for two seconds at once, and then for a share of the time', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stretches } = new ExpensiveReads({ refused: () => {} });
  let read = 0;
  const reading = (async () => {
    for (; read < 100; read += 1)
      await stretches.run(() => new Promise<void>((resolve) => setTimeout(resolve, 100)));
  })();
  await vi.advanceTimersByTimeAsync(10_000);
  // Two seconds, and 15 % of ten, in stretches of a tenth of a second.
  expect(read).toBeGreaterThanOrEqual(34);
  expect(read).toBeLessThanOrEqual(36);
  await vi.runAllTimersAsync();
  await reading;
});
