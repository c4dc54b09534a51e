// What becomes of grants: late ones are not used, follow-up calls wait in turn, stricter limits of others are logged once. The
// live store is the real one of this process, on a clock that the test moves.
import { beforeEach, expect, it } from 'vitest';
import type { RateLimit } from '../../../../src/domain/limits/rate-limit.ts';
import { TASK_TYPES, TASKS } from '../../../../src/domain/task-type.ts';
import { type CallPace, callPaceOf } from '../../../../src/engine/limits/call-pace.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { Pace } from '../../../../src/store/ports/live/pace.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openPacedLiveStore } from '../../../support/virtual-pace.ts';

const LIMIT: RateLimit = { kind: 'calls', interfaces: null, calls: 10, unit: 'second', burst: 10 };
const ONLY_STOPS: RateLimit = { ...LIMIT, interfaces: ['stop'] };

let clock: FakeClock;
let live: LiveStore;
let logged: string[];

beforeEach(() => {
  clock = new FakeClock();
  live = openPacedLiveStore({ clock });
  logged = [];
});

function paceOf(limits: readonly RateLimit[], store: Partial<Pace> = {}): CallPace {
  const { pace } = live;
  const made = callPaceOf(limits, {
    pace: {
      take: (request) => pace.take(request),
      giveBack: (request, grant, calls) => pace.giveBack(request, grant, calls),
      states: () => pace.states(),
      ...store,
    },
    clock,
    log: {
      info: (_: unknown, text?: string) => logged.push(text ?? String(_)),
      warn: (fields: unknown, text?: string) => logged.push(`${text} ${JSON.stringify(fields)}`),
    } as never,
    onError: (error) => expect.unreachable(String(error)),
  });
  if (made === null) throw new Error('no limit counts calls');
  return made;
}

/** Makes the bucket full. */
async function fill(pace: CallPace): Promise<void> {
  for (let i = 0; i < 4; i += 1) {
    await pace.runOnce();
    clock.advance(1_000);
  }
}

const granted = async () => (await live.pace.states())[0]?.granted;

it('exists only with a limit that counts calls', () => {
  const limits: RateLimit[] = [{ kind: 'card', interfaces: null, everySeconds: 900 }];
  const deps = { pace: live.pace, clock, log: {} as never, onError: () => {} };
  expect(callPaceOf(limits, deps)).toBeNull();
});

it('a follow-up call uses no grant that is late', async () => {
  const pace = paceOf([LIMIT], {
    take: async (request) => {
      const grant = await live.pace.take(request);
      if (request.calls > 0) clock.advance(501);
      return grant;
    },
  });
  await fill(pace);
  const late = pace.followUp('stop', 1_000, {});
  await clock.run(5_000);
  expect(await late).toBeNull();
});

it('a follow-up call waits for its turn, and gives up at its time', async () => {
  const pace = paceOf([{ ...LIMIT, calls: 1, burst: 1 }]);
  const first = pace.followUp('stop', 5_000, {});
  const second = pace.followUp('card_status', 5_000, {});
  const late = pace.followUp('stop', 1_500, {});
  await clock.run(10_000);
  expect((await Promise.all([first, second, late])).map((grant) => grant !== null)).toEqual([
    true,
    true,
    false,
  ]);
  expect(await granted()).toBe(2);
});

it('makes a stop within a second of its claim while all types want more than is allowed', async () => {
  const pace = paceOf([LIMIT]);
  await fill(pace);
  const polls = { realname: 0, carddata: 0, package: 0 };
  let ended = false;
  const types = TASK_TYPES.map(async (taskType) => {
    while (!ended) {
      const { calls, waitMs } = await pace.take(taskType, TASKS[taskType].interface, 50);
      polls[taskType] += calls;
      await clock.sleep(Math.max(1, waitMs));
    }
  });
  await clock.run(2_000);
  const longest: number[] = [];
  const stops = Array.from({ length: 20 }, async (_, i) => {
    await clock.sleep(500 * i);
    const claimedAt = clock.monotonic();
    expect(await pace.followUp('stop', 1_000, {})).not.toBeNull();
    longest.push(clock.monotonic() - claimedAt);
  });
  await clock.run(12_000);
  await Promise.all(stops);
  ended = true;
  await clock.run(2_000);
  await Promise.all(types);
  expect(Math.max(...longest), 'the next call is its own').toBeLessThanOrEqual(250);
  expect(Math.min(...Object.values(polls)), 'and polls go on').toBeGreaterThan(0.8 * 40);
});

it('does not ask for calls that no limit counts', async () => {
  const pace = paceOf([ONLY_STOPS]);
  expect(pace.counts('stop')).toBe(true);
  expect(pace.counts('realname')).toBe(false);
  expect(await pace.followUp('card_status', 0, {})).not.toBeNull();
  expect(await live.pace.states()).toEqual([]);
});

it('keeps the bucket of a rare call full', async () => {
  const pace = paceOf([ONLY_STOPS]);
  await fill(pace);
  await fill(pace);
  expect(await pace.followUp('stop', 10, {})).not.toBeNull();
});

it('logs stricter limits of another instance once, and their end', async () => {
  const pace = paceOf([LIMIT]);
  const other = paceOf([{ ...LIMIT, calls: 5, burst: 5 }]);
  logged = [];
  await other.runOnce();
  await pace.runOnce();
  await pace.runOnce();
  expect(logged).toEqual([expect.stringContaining('stricter rate limits')]);
  expect(logged[0]).toContain('all/second: 5 a second');
  clock.advance(10_001);
  await pace.runOnce();
  expect(logged[1]).toBe('rate limits as configured here');
});
