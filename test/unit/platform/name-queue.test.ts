import type { LookupAddress } from 'node:dns';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { NameQueue } from '../../../src/platform/name-queue.ts';

const ADDRESSES: LookupAddress[] = [{ address: '8.8.8.8', family: 4 }];

let asked: string[];
let answers: Array<() => void>;
let heard: string[];
let queue: NameQueue;

beforeEach(() => {
  [asked, answers, heard] = [[], [], []];
  queue = new NameQueue((name, _, callback) => {
    asked.push(name);
    answers.push(() => callback(null, ADDRESSES));
  });
});

const look = (...names: string[]) => {
  for (const name of names)
    queue.lookup(name, { all: true }, (error, addresses) => {
      expect([error, addresses]).toEqual([null, ADDRESSES]);
      heard.push(name);
    });
};
const answer = () => answers.shift()?.();

it('looks up one name at a time, and a name once for all who wait', () => {
  look('a', 'a', 'b', 'a', 'b');
  expect(asked).toEqual(['a']);
  answer();
  expect([asked, heard]).toEqual([
    ['a', 'b'],
    ['a', 'a', 'a'],
  ]);
  answer();
  expect([asked, heard.slice(3)]).toEqual([
    ['a', 'b'],
    ['b', 'b'],
  ]);
  look('a');
  expect(asked, 'an answer is not kept').toEqual(['a', 'b', 'a']);
});

it('looks up a name that was slow after the others, until it is fast again', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  look('slow');
  vi.advanceTimersByTime(2_001);
  answer();
  look('first', 'slow', 'fast');
  for (let n = 0; n < 3; n += 1) answer();
  expect(asked).toEqual(['slow', 'first', 'fast', 'slow']);
  look('first', 'slow', 'fast');
  for (let n = 0; n < 3; n += 1) answer();
  expect(asked.slice(4)).toEqual(['first', 'slow', 'fast']);
});
