// When a batch begins, and with what. Batches end when the test says so.
import { beforeEach, expect, it } from 'vitest';
import { BatchLane } from '../../../../src/engine/results/batch-lane.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const GATHER_MS = 50;
const MAX_BATCH = 1_000;

let clock: FakeClock;
let lane: BatchLane<number>;
let batches: Array<readonly number[]>;
let ends: Array<() => void>;

beforeEach(() => {
  clock = new FakeClock();
  [batches, ends] = [[], []];
  lane = new BatchLane(clock, (batch) => {
    batches.push(batch);
    return new Promise<void>((resolve) => ends.push(resolve));
  });
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const add = (...items: number[]) => {
  for (const item of items) lane.add(item);
};
/** Ends the oldest batch that runs. */
const endOne = async () => {
  ends.shift()?.();
  await clock.run(0);
};

it('gathers for fifty milliseconds from the first item on, by one rest', async () => {
  add(1);
  await clock.run(GATHER_MS - 10);
  add(2, 3);
  expect(clock.sleepers).toBe(1);
  expect(batches).toEqual([]);
  await clock.run(10);
  expect(batches).toEqual([[1, 2, 3]]);
  expect(clock.sleepers).toBe(0);
});

it('begins a full batch at once, and gathers later items into the next one', async () => {
  add(...range(1, MAX_BATCH - 1));
  expect(batches).toEqual([]);
  await clock.run(GATHER_MS / 2);
  add(MAX_BATCH);
  expect(batches).toEqual([range(1, MAX_BATCH)]);
  add(MAX_BATCH + 1);
  await clock.run(GATHER_MS - 1);
  expect(batches, 'the rest of the first batch is over, too').toHaveLength(1);
  await clock.run(1);
  expect(batches[1]).toEqual([MAX_BATCH + 1]);
});

it('runs two batches at most; what comes meanwhile is the next one, a thousand items at most', async () => {
  for (const item of [1, 2, 3]) {
    add(item);
    await clock.run(GATHER_MS);
  }
  add(...range(4, MAX_BATCH + 10));
  await clock.run(GATHER_MS);
  expect(batches).toEqual([[1], [2]]);
  await endOne();
  expect(batches.slice(2)).toEqual([range(3, MAX_BATCH + 2)]);
  await endOne();
  expect(batches.slice(3)).toEqual([range(MAX_BATCH + 3, MAX_BATCH + 10)]);
  await endOne();
  await endOne();
  expect(batches).toHaveLength(4);
});

it('begins no empty batch', async () => {
  lane.flush();
  add(1);
  lane.flush();
  lane.flush();
  await endOne();
  await clock.run(GATHER_MS);
  expect(batches).toEqual([[1]]);
});

it('begins nothing once it is closed: not what was gathered, what waited, nor what comes', async () => {
  add(1);
  lane.flush();
  add(2);
  lane.flush();
  add(3);
  lane.flush();
  add(4);
  lane.close();
  expect(batches).toEqual([[1], [2]]);
  add(5);
  await clock.run(GATHER_MS);
  await endOne();
  await endOne();
  lane.flush();
  await clock.run(GATHER_MS);
  expect(batches).toEqual([[1], [2]]);
});

it('rests no longer for what it will not begin', async () => {
  add(1);
  lane.close();
  await clock.run(0);
  expect(clock.sleepers).toBe(0);
});
