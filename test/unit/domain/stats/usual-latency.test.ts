// What is usual, and what is slow: in seconds that are given, without a clock.
import { expect, it } from 'vitest';
import {
  learned,
  secondsWords,
  slownessOf,
  slownessWords,
  type UsualLatency,
} from '../../../../src/domain/stats/usual-latency.ts';

const of = (ms: number, polls = 1_000) => ({ polls, p50Ms: ms, succeededMs: ms });

/** After so many seconds, each with the latency of its number. */
function after(seconds: number, msAt: (second: number) => number, from: UsualLatency | null = null) {
  let usual = from;
  for (let second = 0; second < seconds; second += 1) usual = learned(usual, of(msAt(second)));
  return usual;
}

it('calls nothing usual in the first seconds, and nothing slow without it', () => {
  expect(slownessOf(of(3_000), null)).toBeNull();
  expect(
    slownessOf(
      of(3_000),
      after(14, () => 20),
    ),
  ).toBeNull();
  expect(
    slownessOf(
      of(3_000),
      after(15, () => 20),
    ),
  ).toMatchObject({ nowMs: 3_000, slowFromMs: null });
});

it('keeps what was usual through hours of trouble, and takes a new normal after a day', () => {
  const usual = after(60, () => 20);
  const hour = after(3_600, () => 3_000, usual);
  expect(hour?.meanMs).toBeLessThan(26);
  expect(slownessOf(of(20), hour)).toBeNull();
  expect(
    slownessOf(
      of(3_000),
      after(2 * 86_400, () => 60 * 4, usual),
    ),
  ).not.toBeNull();
  expect(
    slownessOf(
      of(240),
      after(2 * 86_400, () => 240, usual),
    ),
  ).toBeNull();
});

it('sees a gateway that gets slower by a percent a minute within four hours', () => {
  const slower = (second: number) => 20 * 1.01 ** (second / 60);
  let usual: UsualLatency | null = null;
  let second = 0;
  while (slownessOf(of(slower(second)), usual) === null) {
    usual = learned(usual, of(slower(second)));
    second += 1;
  }
  expect(second / 3_600).toBeLessThan(4);
});

it.each([
  [3, 'takes 0.12 s a call, usually 0.03 s'],
  [24, 'takes 0.12 s a call, usually 0.02 s'],
])('says after three hours of that what a call takes, after %i calm hours', (calmHours, words) => {
  const slower = (second: number) => 20 * 1.01 ** (second / 60);
  const usual = after(
    3 * 3_600,
    slower,
    after(calmHours * 3_600, () => 20),
  );
  const slow = slownessOf(of(slower(3 * 3_600)), usual);
  if (slow === null) throw new Error('it is slow');
  expect(slownessWords(slow, {})).toBe(words);
});

it('is not frightened by little: a difference that no one feels, or one slow call of a few', () => {
  const usual = after(600, () => 5);
  expect(slownessOf(of(40), usual)).toBeNull();
  expect(slownessOf({ polls: 9, p50Ms: 3_000, succeededMs: 3_000 }, usual)).toBeNull();
  expect(slownessOf({ polls: 20, p50Ms: 5, succeededMs: 155 }, usual)).toBeNull();
});

it('names the share where most calls are as fast as ever', () => {
  const slow = slownessOf(
    { polls: 1_000, p50Ms: 20, succeededMs: 318 },
    after(600, () => 20),
  );
  if (slow === null) throw new Error('it is slow');
  expect(slownessWords(slow, { 13: 900, 35: 100 })).toBe(
    'is slow for 10 % of the calls: on average 0.32 s a call, usually 0.02 s (p50 0.02 s, p95 2.9 s)',
  );
});

it.each([
  [3, '0.003 s'],
  [24, '0.02 s'],
  [53, '0.05 s'],
  [3_010, '3.0 s'],
  [12_400, '12 s'],
])('says %i ms as %s', (ms, words) => {
  expect(secondsWords(ms)).toBe(words);
});

it('calls no gateway slow where only the calls that fail take long, or none succeeds', () => {
  const usual = after(60, () => 40);
  expect(slownessOf({ polls: 1_000, p50Ms: 3_000, succeededMs: 30 }, usual)).toBeNull();
  expect(slownessOf({ polls: 1_000, p50Ms: 3_000, succeededMs: null }, usual)).toBeNull();
  expect(slownessOf({ polls: 1_000, p50Ms: 3_000, succeededMs: 2_000 }, usual)).toMatchObject({
    nowMs: 2_000,
  });
});
