import { expect, it } from 'vitest';
import { PatientReading } from '../../../src/operations/patient-reading.ts';
import { FakeClock } from '../../support/fake-clock.ts';

it('asks every five seconds at most, and once at a time', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const stops = new PatientReading(async () => ++asked, clock);
  expect(await Promise.all([stops.read(), stops.read()])).toEqual([1, 1]);
  clock.advance(4_999);
  expect(await stops.read()).toBe(1);
  clock.advance(1);
  expect(await stops.read()).toBe(2);
});

it('is unknown while the database is away or hangs, and no caller waits for it', async () => {
  const clock = new FakeClock();
  let answer: () => Promise<number> = async () => 3;
  const stops = new PatientReading(() => answer(), clock);
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
