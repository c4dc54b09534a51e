// What the leader does about cards that go over their package: how many stops may be called, and when a jump begins. With the live store of
// this process; with real records: test/contract/record-store/orders.test.ts, with a fleet: test/long/steps.test.ts.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { OverCard } from '../../../../src/domain/results/fleet-level.ts';
import { StepWatch } from '../../../../src/engine/results/step-watch.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { JumpBegun, UsageJump } from '../../../../src/store/ports/records/stop-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

const PER_SECOND = 60;

let clock: FakeClock;
let live: LiveStore;
let watch: StepWatch;
let left: number;
let over: OverCard[];
let jump: UsageJump | null;
let begun: JumpBegun[];
let fence: number | null;
let fleetCards: number;
let looks: number;

beforeEach(async () => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  [left, over, jump, begun, fence, fleetCards, looks] = [0, [], null, [], 1, 1_200, 0];
  watch = new StepWatch({
    live,
    records: {
      cards: { counted: async () => fleetCards },
      stopControl: {
        jump: async () => jump,
        beginJump: async (next) => {
          begun.push(next);
          return true;
        },
        overSince: async () => {
          looks += 1;
          return over;
        },
        unwatchedLeft: async () => left,
        noteWatched: async (next, before) => {
          expect(before).toBe(left);
          left = next ?? left;
        },
      },
    },
    fence: () => fence,
    clock,
    log: pino({ enabled: false }),
    onError: (error) => expect.unreachable(String(error)),
  });
  for (let second = 0; second < 20; second += 10) {
    const polls = 10 * PER_SECOND;
    const counted = {
      succeeded: polls,
      failed: 0,
      durationMs: polls,
      carriers: new Map([[1, { polls, failed: 0 }]]),
    };
    await live.stats.record('carddata', 'w', 1 + second, statsDelta(counted));
    clock.advance(10_000);
  }
});

const cards = (count: number, everyMs: number, shownMb: (i: number) => number): OverCard[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{
      carrierId: 1,
      beforeMb: 100,
      shownMb: shownMb(i),
      requestedAtMs: clock.now() - everyMs * i,
      waits: false,
    },
  }));

it('a fleet in which no card goes over may have its first few stops, and is looked at every some seconds', async () => {
  await watch.runOnce();
  expect([left, looks]).toEqual([20, 1]);
  await watch.runOnce();
  expect(looks, 'no stop was called').toBe(1);
  clock.advance(15_000);
  await watch.runOnce();
  expect(looks).toBe(2);
});

it('a large fleet may have a hundredth of a percent', async () => {
  fleetCards = 10_000_000;
  await watch.runOnce();
  expect(left).toBe(1_000);
});

it('cards that go over one by one are compared, and further ones may be stopped', async () => {
  [left, over] = [0, cards(200, 1_000, (i) => 600 + i)];
  await watch.runOnce();
  expect([left, begun]).toEqual([20, []]);
});

it('cards that step over together and alike begin a jump', async () => {
  [left, over] = [3, cards(40, 17, () => 800)];
  await watch.runOnce();
  expect(begun).toEqual([
    { carrierId: null, factor: 8, isStep: true, baselineMbPerHour: 0, recentMbPerHour: 0 },
  ]);
  expect(left, 'no further stop is called').toBe(3);
});

it('cards that step over together by what each has wait until they have left the window', async () => {
  [left, over] = [0, cards(40, 17, (i) => 600 + ((i * 7_919) % 500))];
  await watch.runOnce();
  expect([left, begun]).toEqual([0, []]);
  over = [];
  await watch.runOnce();
  expect(left).toBe(20);
});

it.each([
  ['of the fleet holds all stops itself', { carrierId: null, acceptedAtMs: null }, 20, 0],
  ['that was accepted holds none', { carrierId: 1, acceptedAtMs: 1 }, 20, 0],
  ['of a carrier leaves the others to be compared', { carrierId: 1, acceptedAtMs: null }, 0, 1],
])('a jump %s', async (_, differing, expected, looked) => {
  jump = { sinceMs: 1, factor: 8, baselineMbPerHour: 1, recentMbPerHour: 1, isStep: true, ...differing };
  [left, over] = [0, cards(40, 17, () => 800)];
  await watch.runOnce();
  expect([left, looks]).toEqual([expected, looked]);
});

it('an instance that does not lead does nothing', async () => {
  fence = null;
  await watch.runOnce();
  expect([left, looks]).toEqual([0, 0]);
});
