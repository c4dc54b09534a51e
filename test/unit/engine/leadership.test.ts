// Who leads for certain: the lease as the store grants it, on a clock that the test moves.

import { beforeEach, expect, it } from 'vitest';
import { Leadership } from '../../../src/engine/leadership.ts';
import type { Coordination } from '../../../src/store/ports/live/coordination.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../support/limits.ts';

const TTL_MS = 4_000;
const PROVEN_FOR_MS = 5_000;

let clock: FakeClock;
let coordination: Coordination;
let changes: Array<[string, boolean]>;
/** When the configs were asked for, that were read last. */
let configsReadAt: () => number;

beforeEach(() => {
  clock = new FakeClock();
  coordination = openLimitedLiveStore({ clock }).coordination;
  changes = [];
  // Read again and again, as while the record store answers.
  configsReadAt = () => clock.monotonic();
});

function candidate(holder: string, lead: Coordination['lead'] = (...args) => coordination.lead(...args)) {
  return new Leadership({
    coordination: { ...coordination, lead, resign: (...args) => coordination.resign(...args) },
    holder,
    clock,
    configsReadAt: () => configsReadAt(),
    onChange: (leads) => changes.push([holder, leads]),
    onError: (error) => expect.unreachable(String(error)),
  });
}

it('leads until its lease has run out, not a moment longer', async () => {
  const one = candidate('one');
  expect(one.fence()).toBeNull();
  await one.runOnce();
  const fence = one.fence();
  expect(fence).not.toBeNull();
  clock.advance(TTL_MS - 1);
  expect(one.fence()).toBe(fence);
  clock.advance(1);
  expect(one.fence(), 'the lease has ended, and another may lead by now').toBeNull();

  const two = candidate('two');
  await two.runOnce();
  expect(two.fence()).toBeGreaterThan(fence as number);
  await one.runOnce();
  expect(one.fence()).toBeNull();
  expect(changes).toEqual([
    ['one', true],
    ['two', true],
    ['one', false],
  ]);
});

it('counts the lease from before it asked, however late the answer is', async () => {
  const slow = candidate('slow', async (...args) => {
    const fence = await coordination.lead(...args);
    clock.advance(TTL_MS - 1);
    return fence;
  });
  await slow.runOnce();
  expect(slow.fence()).not.toBeNull();
  clock.advance(1);
  expect(slow.fence()).toBeNull();
});

it('renews its lease, and hands it over at once when it stops', async () => {
  const [one, two] = [candidate('one'), candidate('two')];
  await one.runOnce();
  const fence = one.fence();
  clock.advance(3_000);
  await one.runOnce();
  clock.advance(3_000);
  expect(one.fence()).toBe(fence);
  await two.runOnce();
  expect(two.fence()).toBeNull();
  await one.stop();
  expect(one.fence()).toBeNull();
  await two.runOnce();
  expect(two.fence()).not.toBeNull();
});

it('reports a change once, and gives up only a lease that it holds', async () => {
  const one = candidate('one');
  await one.runOnce();
  await one.runOnce();
  expect(changes).toEqual([['one', true]]);
  const two = candidate('two');
  await two.runOnce();
  const resigned: string[] = [];
  coordination.resign = async (_lease, holder) => void resigned.push(holder);
  await two.stop();
  await one.stop();
  await one.stop();
  expect(resigned).toEqual(['one']);
});

it('does nothing under a lead before the configs have been read under it', async () => {
  const readAt = clock.monotonic();
  configsReadAt = () => readAt;
  const one = candidate('one', async (...args) => {
    clock.advance(10);
    return coordination.lead(...args);
  });
  await one.runOnce();
  expect(changes).toEqual([['one', true]]);
  expect(one.fence(), 'asked for before the lead was granted').toBeNull();
  configsReadAt = () => readAt + 10;
  expect(one.fence()).not.toBeNull();
});

it('resigns when the record store has not answered for five seconds, and takes no lead until it does', async () => {
  const [one, two] = [candidate('one'), candidate('two')];
  await one.runOnce();
  const fence = one.fence();
  const readAt = clock.monotonic();
  configsReadAt = () => readAt;
  clock.advance(TTL_MS - 1);
  await one.runOnce();
  clock.advance(PROVEN_FOR_MS - TTL_MS);
  expect(one.fence()).toBe(fence);
  clock.advance(1);
  expect(one.fence()).toBeNull();
  await one.runOnce();
  await two.runOnce();
  expect(changes).toEqual([
    ['one', true],
    ['one', false],
  ]);
  configsReadAt = () => clock.monotonic();
  await two.runOnce();
  expect(two.fence(), 'it was handed over, long before it ran out').toBeGreaterThan(fence as number);
  await one.runOnce();
  expect(one.fence()).toBeNull();
});
