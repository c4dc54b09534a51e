import { beforeEach, expect, it } from 'vitest';
import { BackpressureWatch } from '../../../src/engine/backpressure-watch.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let clock: FakeClock;
let watch: BackpressureWatch;
beforeEach(() => {
  clock = new FakeClock();
  watch = new BackpressureWatch(clock);
});

const note = (...answers: boolean[]) => answers.map((backpressure) => watch.note(backpressure));

it('needs three answers', () => {
  expect(note(true, true, true)).toEqual([false, false, true]);
});

it('counts anew after it spoke', () => {
  note(true, true, true);
  expect(note(true, true, true)).toEqual([false, false, true]);
});

it('needs half of the polls: one in three is a matter of some cards', () => {
  for (let i = 0; i < 300; i += 1) expect(watch.note(i % 3 === 2)).toBe(false);
});

it('takes half of the polls for enough', () => {
  expect(note(false, false, false, true, true, true)).toEqual([false, false, false, false, false, true]);
});

it('does not speak on a success, also when old successes are forgotten', () => {
  note(...Array.from({ length: 10 }, () => false));
  clock.advance(5_000);
  expect(note(true, true, true)).toEqual([false, false, false]);
  clock.advance(6_000);
  expect(note(false), 'three refusals of four that are remembered').toEqual([false]);
  expect(note(true)).toEqual([true]);
});

it('or the last ten of them', () => {
  for (let i = 0; i < 1_000; i += 1) watch.note(false);
  const answers = note(...Array.from({ length: 10 }, () => true));
  expect(answers.indexOf(true)).toBe(9);
});

it('forgets after ten seconds', () => {
  note(true, true);
  clock.advance(10_000);
  expect(note(true, true)).toEqual([false, false]);
});
