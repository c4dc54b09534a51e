// What the leader makes of the fleet's growth: the live store is the real one of this process, the clock the test's. With
// real records and a polled fleet: test/integration/engine/results/usage-jump-watch.test.ts.

import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { SteppedCard } from '../../../../src/domain/results/fleet-level.ts';
import { DOUBTFUL_BUCKET, growthBucketOf } from '../../../../src/domain/results/usage-growth.ts';
import { UsageJumpWatch } from '../../../../src/engine/results/usage-jump-watch.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { UsageJump } from '../../../../src/store/ports/records/stop-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

const NORMAL = 2;
const WRONG = 2_048;

let clock: FakeClock;
let live: LiveStore;
let jump: UsageJump | null;
let fence: number | null;
let lines: Array<Record<string, unknown>>;
let watch: UsageJumpWatch;
let flush = 0;
/** Cards that are over their package because of the jump. */
let over: SteppedCard[];

beforeEach(() => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  [jump, fence, lines, over] = [null, 1, [], []];
  watch = new UsageJumpWatch({
    live,
    records: {
      jump: async () => jump,
      beginJump: async (begun) => {
        if (jump !== null && jump.acceptedAtMs === null) return false;
        jump = { ...begun, sinceMs: clock.now(), acceptedAtMs: null };
        return true;
      },
      overSinceJump: async () =>
        over.map((card, cardId) => ({ ...card, cardId, carrierId: 7, requestedAtMs: 0, waits: false })),
      noteStep: async () => {
        const isNew = jump?.isStep === false;
        if (jump !== null) jump = { ...jump, isStep: true };
        return isNew;
      },
      endJump: async () => {
        const ended = jump !== null;
        jump = null;
        return ended;
      },
    },
    jumpFactor: 20,
    fence: () => fence,
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
});

/** Minutes in which 60 readings grow at this rate, and some are doubtful; the watch looks once in each. */
async function read(minutes: number, mbPerHour: number, doubtful = 0): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    flush += 1;
    const usageGrowth = { [growthBucketOf(mbPerHour)]: 60, [DOUBTFUL_BUCKET]: doubtful };
    await live.stats.record(
      'carddata',
      'w',
      flush,
      statsDelta({
        succeeded: 60,
        failed: 0,
        durationMs: 60,
        usageGrowth,
      }),
    );
    expect(await watch.runOnce()).toBe(2_000);
    clock.advance(60_000);
  }
}

it('logs when a jump begins and when it is over, however long it lasts', async () => {
  await read(30, NORMAL);
  expect(jump).toBeNull();
  const beganMs = clock.now();
  await read(90, WRONG);
  expect(jump?.sinceMs).toBeGreaterThanOrEqual(beganMs);
  expect(jump?.sinceMs).toBeLessThan(beganMs + 3 * 60_000);
  expect(jump?.factor).toBeCloseTo(1_024, 6);
  expect(lines).toMatchObject([
    {
      level: 40,
      factor: 1_024,
      msg: 'the usage of the fleet grows much faster than before: stops are held',
    },
  ]);
  lines.length = 0;
  await read(3, NORMAL);
  expect(jump).toBeNull();
  expect(lines).toMatchObject([
    { level: 30, msg: 'the usage of the fleet is as before the jump: stops are no longer held' },
  ]);
});

it('does not measure the next jump against the readings of the last', async () => {
  await read(30, NORMAL);
  await read(90, WRONG);
  await read(8, NORMAL, 60);
  expect(jump).toBeNull();
  await read(3, WRONG);
  expect(jump).not.toBeNull();
  await read(8, NORMAL, 60);
  clock.advance(23 * 3_600_000);
  await read(10, NORMAL);
  await read(3, WRONG);
  expect(jump, 'nor against them on the next day').not.toBeNull();
});

it('measures a jump that was true against itself on the days after, for a week', async () => {
  const burst = async (days: number) => {
    clock.advance(days * 24 * 3_600_000 - 40 * 60_000);
    await read(30, NORMAL);
    await read(4, WRONG);
    const held = jump !== null;
    await read(6, NORMAL);
    return held;
  };
  expect(await burst(1), 'on the first day').toBe(true);
  expect(jump).toBeNull();
  expect([await burst(1), await burst(6), await burst(7)]).toEqual([false, false, false]);
  expect(await burst(9), 'forgotten').toBe(true);
});

it('leaves an accepted jump alone until the hour before has its level', async () => {
  await read(60, NORMAL);
  await read(3, WRONG);
  jump = { ...(jump as unknown as UsageJump), acceptedAtMs: clock.now() };
  lines.length = 0;
  await read(20, WRONG);
  expect(jump).not.toBeNull();
  expect(lines).toEqual([]);
  await read(20, WRONG);
  expect(jump).toBeNull();
  expect(lines).toMatchObject([{ msg: 'the accepted growth of the usage is the normal one now' }]);
  await read(20, WRONG);
  expect(lines).toHaveLength(1);
});

it('holds stops again when the usage jumps beyond what was accepted', async () => {
  await read(60, NORMAL);
  await read(3, WRONG);
  jump = { ...(jump as unknown as UsageJump), acceptedAtMs: clock.now() };
  await read(5, WRONG);
  lines.length = 0;
  await read(3, 100 * WRONG);
  expect(jump).toMatchObject({ acceptedAtMs: null });
  expect(lines).toMatchObject([{ level: 40, msg: expect.stringContaining('stops are held') }]);
});

it('does nothing unless this instance leads', async () => {
  fence = null;
  await read(30, NORMAL);
  await read(5, WRONG);
  expect(jump).toBeNull();
  expect(lines).toEqual([]);
});

const over100 = (shown: (beforeMb: number) => number): SteppedCard[] =>
  Array.from({ length: 100 }, (_, i) => ({ beforeMb: 100 + i, shownMb: shown(100 + i) }));

it('holds stops while growth is as before on another level, and ends when that is gone', async () => {
  await read(30, NORMAL);
  await read(3, WRONG);
  over = over100((mb) => 8 * mb);
  await read(90, NORMAL);
  expect(jump).toMatchObject({ isStep: true, acceptedAtMs: null });
  const [begun, stepped, ...more] = lines.map(({ msg }) => msg);
  expect(begun).toContain('grows much faster');
  expect(stepped).toContain('on another level');
  expect(more, 'said once').toEqual([]);
  // Others went over since, by themselves.
  over = over.map((card) => ({ ...card, beforeMb: null }));
  await read(1, NORMAL);
  expect(jump).toBeNull();
});

it('leaves another level to an operator when nothing shows any more what was before it', async () => {
  await read(30, NORMAL);
  await read(3, WRONG);
  over = over100((mb) => 8 * mb);
  await read(30, NORMAL);
  expect(jump).toMatchObject({ isStep: true });
  clock.advance(2 * 86_400_000);
  over = over.map((card) => ({ ...card, beforeMb: null }));
  await read(10, NORMAL);
  expect(jump).not.toBeNull();
  over = over.slice(0, 20);
  await read(1, NORMAL);
  expect(jump).toBeNull();
});

it('ends an upload by which many cards went over, each by what it sent', async () => {
  await read(30, NORMAL);
  await read(3, WRONG);
  over = over100((mb) => 3 * mb + ((mb * 7_919) % 400));
  await read(10, NORMAL);
  expect(jump).toBeNull();
});

it('ends a jump that an operator accepted, whatever the level is', async () => {
  await read(30, NORMAL);
  await read(3, WRONG);
  over = over100((mb) => 8 * mb);
  await read(10, NORMAL);
  if (jump !== null) jump = { ...jump, acceptedAtMs: clock.now() };
  await read(10, NORMAL);
  expect(jump, 'does not begin again while it lasts').not.toBeNull();
  over = [];
  await read(1, NORMAL);
  expect(jump).toBeNull();
});
