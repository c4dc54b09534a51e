import { expect, it } from 'vitest';
import { SharedReading } from '../../../src/platform/shared-reading.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('asks every five seconds at most, and once at a time', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const stops = new SharedReading(async () => ++asked, clock);
  expect(await Promise.all([stops.read(), stops.read()])).toEqual([1, 1]);
  clock.advance(4_999);
  expect(await stops.read()).toBe(1);
  clock.advance(1);
  expect(await stops.read()).toBe(2);
});

it('does not give an answer from before a long silence, however slowly it came', async () => {
  const clock = new FakeClock();
  let answer = 1;
  const stops = new SharedReading(async () => {
    await clock.sleep(60);
    return answer;
  }, clock);
  const first = stops.read();
  await clock.run(60);
  expect(await first).toBeNull();
  answer = 2;
  clock.advance(10_000);
  expect(await stops.read()).toBe(1);
  await clock.run(60);
  answer = 3;
  clock.advance(3_600_000);
  const late = stops.read();
  await clock.run(60);
  expect(await late).toBeNull();
  expect(await stops.read()).toBe(3);
});

it('is unknown while the database is away or hangs, and no caller waits for it', async () => {
  const clock = new FakeClock();
  let answer: () => Promise<number> = async () => 3;
  const stops = new SharedReading(() => answer(), clock);
  expect(await stops.read()).toBe(3);
  clock.advance(5_000);
  answer = () => Promise.reject(new Error('away'));
  expect(await stops.read()).toBeNull();
  clock.advance(5_000);
  answer = () => new Promise(() => {});
  const read = stops.read();
  await clock.run(50);
  expect(await read).toBeNull();
});
