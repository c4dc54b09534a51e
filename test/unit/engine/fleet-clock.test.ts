// The time of what is read: the live store's while it agrees with the record store's.
import { expect, it } from 'vitest';
import { FleetClock } from '../../../src/engine/fleet-clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MONTH_MS = 31 * 86_400_000;

async function started(records: FakeClock, own = new FakeClock('1970-01-01T00:00:00Z'), tookMs = 0) {
  const now = async () => {
    own.advance(tookMs);
    return records.now();
  };
  const fleetClock = new FleetClock({
    records: { now },
    clock: own,
    onError: (error) => expect.unreachable(String(error)),
  });
  await fleetClock.runOnce();
  return { fleetClock, own };
}

it("is the live store's while both agree, whatever this machine's shows", async () => {
  const records = new FakeClock();
  const { fleetClock, own } = await started(records);
  for (const offMs of [0, 1_500, -1_500]) {
    expect(fleetClock.timeOf(records.now() + offMs, own.monotonic())).toBe(records.now() + offMs);
  }
});

it.each([
  ['ahead', 45 * 86_400_000],
  ['behind', -MONTH_MS],
])("is the record store's from the first claim on that a clock %s dates", async (_, offMs) => {
  const records = new FakeClock();
  const { fleetClock, own } = await started(records);
  own.advance(4_000);
  expect(fleetClock.timeOf(records.now() + 4_000 + offMs, own.monotonic())).toBe(records.now() + 4_000);
  expect(fleetClock.timeOf(records.now() + 4_000, own.monotonic())).toBe(records.now() + 4_000);
});

it('believes no answer that took long, unless it has none', async () => {
  const records = new FakeClock();
  const own = new FakeClock();
  let tookMs = 800;
  const now = async () => {
    own.advance(tookMs);
    return records.now();
  };
  const fleetClock = new FleetClock({ records: { now }, clock: own, onError: () => {} });
  await fleetClock.runOnce();
  const ahead = records.now() + MONTH_MS;
  expect(fleetClock.timeOf(ahead, own.monotonic())).toBe(records.now() + 400);
  tookMs = 0;
  await fleetClock.runOnce();
  expect(fleetClock.timeOf(ahead, own.monotonic())).toBe(records.now());
  tookMs = 600;
  await fleetClock.runOnce();
  expect(fleetClock.timeOf(ahead, own.monotonic()), 'the last prompt one').toBe(records.now() + 600);
});

it('knows what a round trip to the record store takes: the shorter of the last two', async () => {
  const records = new FakeClock();
  const own = new FakeClock();
  let tookMs = 0;
  const now = async () => {
    own.advance(tookMs);
    return records.now();
  };
  const fleetClock = new FleetClock({ records: { now }, clock: own, onError: () => {} });
  const known: Array<number | null> = [];
  for (tookMs of [800, 900, 3, 700, 820]) {
    await fleetClock.runOnce();
    known.push(fleetClock.databaseMs);
  }
  expect(known).toEqual([null, 800, 3, 3, 700]);
});
