// What one poll reports: to the statistics that the leader uses, to the log, and to the fleet when the gateway asks
// for less. The live store is the real one of this process, the clock the test's.

import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { growthBucketOf } from '../../../../src/domain/results/usage-growth.ts';
import { StatsRecorder } from '../../../../src/engine/stats/stats-recorder.ts';
import { CardPoller, failureNoteOf, NO_RETRY, retryOf } from '../../../../src/engine/work/card-poller.ts';
import { Deadline, type TaskResult } from '../../../../src/engine/work/task.ts';
import { GatewayError, type GatewayFailure } from '../../../../src/gateway/gateway.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { WorkQueue } from '../../../../src/store/ports/live/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const CARD = { cardId: 7, iccid: '8986000000000000007' } as Card;
const OUTCOME = { cardId: 7, taskType: 'carddata', polledAtMs: 1 } as const;

let clock: FakeClock;
let live: LiveStore;
let stats: StatsRecorder;
let lines: Array<Record<string, unknown>>;
let errors: unknown[];
/** How long the gateway takes; what it refuses with, unless null. */
let tookMs: number;
let failure: unknown;
let growth: Omit<TaskResult, 'outcome' | 'fields'>;
/** Whether the gateway refuses every call. */
let refusesAll: boolean;

beforeEach(() => {
  clock = new FakeClock();
  // A process that has been up for a while: a duration is a difference.
  clock.advance(1_000_000);
  live = openLimitedLiveStore({ clock });
  const onError = (error: unknown) => expect.unreachable(String(error));
  stats = new StatsRecorder({
    live,
    instanceId: 'w',
    meter: { poll: () => {} },
    clock,
    onError,
  });
  [lines, errors] = [[], []];
  [tookMs, failure, growth, refusesAll] = [0, null, {}, false];
});

function makePoller(
  pause: WorkQueue['pause'] = (type, request) => live.work.pause(type, request),
): CardPoller {
  return new CardPoller({
    task: {
      taskType: 'carddata',
      poll: async () => {
        clock.advance(tookMs);
        if (failure !== null) throw failure;
        return { outcome: OUTCOME, fields: { flow: 12.5 }, ...growth };
      },
    },
    instanceId: 'w',
    live: { work: { pause } },
    stats,
    flow: { refusesAll: () => refusesAll },
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onError: (error, retryInMs) => void errors.push([error, retryInMs]),
  });
}

const poll = (poller: CardPoller) =>
  poller.poll(CARD, new Deadline(clock, clock.monotonic(), 60_000, clock.now()));

/** Polls that end in turn with this; null succeeds. */
async function polls(poller: CardPoller, ...failures: readonly unknown[]): Promise<void> {
  for (failure of failures) await poll(poller);
}

async function counted() {
  await stats.runOnce();
  return live.stats.read('carddata');
}

const refusal = new GatewayError('backpressure', 'HTTP 429');

it('counts and logs a poll that succeeded, with the time it took in whole milliseconds', async () => {
  tookMs = 120.4;
  expect(await poll(makePoller())).toEqual({ outcome: OUTCOME });
  expect(await counted()).toMatchObject({ succeeded: 1, failed: 0, succeededMs: 120 });
  expect(lines).toMatchObject([
    { card_id: 7, iccid: CARD.iccid, flow: 12.5, duration_ms: 120, msg: '流量检查完成' },
  ]);
});

it('counts how fast the usage of a card grew', async () => {
  const poller = makePoller();
  await poll(poller);
  growth = { usageMbPerHour: 60 };
  await poll(poller);
  await counted();
  expect([...(await live.stats.usageGrowth()).minutes.values()]).toEqual([{ [growthBucketOf(60)]: 1 }]);
});

it('counts a reading that was not believed', async () => {
  const poller = makePoller();
  await poll(poller);
  growth = { implausible: true };
  await poll(poller);
  expect((await counted()).window).toMatchObject({ succeeded: 2, implausible: 1 });
});

it.each([
  ['counts', { counters: 1, fallen: 0 }],
  ['fallen', { counters: 1, fallen: 1 }],
  [null, { counters: 0, fallen: 0 }],
] as const)('counts the reading of a card that has used something: %s', async (counter, expected) => {
  growth = counter === null ? {} : { counter };
  await poll(makePoller());
  expect((await counted()).window).toMatchObject(expected);
});

it('counts and logs a poll that failed, and hands on why', async () => {
  tookMs = 200;
  failure = new GatewayError('http', 'HTTP 500');
  expect(await poll(makePoller())).toEqual({ error: failure, durationMs: 200 });
  expect(await counted()).toMatchObject({
    succeeded: 0,
    failed: 1,
    timeouts: 0,
    backpressure: 0,
    window: { durationMs: 200, reasons: { http: 1 } },
  });
  expect(lines).toMatchObject([
    {
      level: 40,
      task_type: 'carddata',
      card_id: 7,
      iccid: CARD.iccid,
      error: 'http',
      reason: 'HTTP 500',
      duration_ms: 200,
      msg: 'poll failed',
    },
  ]);
});

it.each([
  [
    'a store that is away',
    new CardpollError('unavailable', 'redis_unreachable', 'away'),
    'redis_unreachable',
  ],
  ['a mistake in the program', new TypeError('x is not a function'), 'internal'],
])('fails the card alone for %s', async (_, error, reason) => {
  failure = error;
  expect(await poll(makePoller())).toEqual({ error, durationMs: 0 });
  expect(await counted()).toMatchObject({ failed: 1, window: { reasons: { [reason]: 1 } } });
  expect(lines).toMatchObject([{ error: reason, msg: 'poll failed' }]);
});

it('counts timeouts and refusals for the limit', async () => {
  const timeout = new GatewayError('timeout', 'no answer');
  await polls(makePoller(), timeout, timeout, refusal);
  expect(await counted()).toMatchObject({ failed: 3, timeouts: 2, backpressure: 1 });
});

const later = new GatewayError('backpressure', 'HTTP 503', { interfaceName: 'flow', retryAfterMs: 7_000 });

it('pauses the type for as long as a gateway asks that refuses every call', async () => {
  refusesAll = true;
  await polls(makePoller(), later);
  expect(await live.work.pauses()).toEqual([
    {
      taskType: 'carddata',
      source: 'gateway',
      reason: 'flow answered HTTP 503',
      by: 'w',
      id: null,
      sinceMs: clock.now(),
      untilMs: clock.now() + 7_000,
    },
  ]);
});

it.each([
  ['a gateway that accepts other calls', false, later],
  ['a gateway that does not say for how long', true, refusal],
  ['a timeout', true, new GatewayError('timeout', 'no answer')],
])('does not pause the type for %s', async (_, all, error) => {
  refusesAll = all;
  await polls(makePoller(), ...Array.from({ length: 20 }, () => error));
  expect(await live.work.pauses()).toEqual([]);
});

it('reports a pause that could not be set, and goes on polling', async () => {
  refusesAll = true;
  const away = new Error('away');
  const poller = makePoller(() => Promise.reject(away));
  await polls(poller, later);
  await clock.run(0);
  expect(errors).toEqual([[away, 0]]);
  failure = null;
  expect(await poll(poller)).toEqual({ outcome: OUTCOME });
});

describe('a failed poll', () => {
  const MINUTE_MS = 60_000;

  it.each(['card', 'business'] as const)('retries no card that the gateway refuses: %s', (failure) => {
    expect(retryOf(new GatewayError(failure, 'no', { retryAfterMs: 5_000 }), MINUTE_MS)).toEqual(NO_RETRY);
  });

  const FAILURES: readonly GatewayFailure[] = ['timeout', 'http', 'backpressure', 'held', 'malformed'];

  it.each(FAILURES)('retries what may succeed later until its ring asks for it: %s', (failure) => {
    const error = new GatewayError(failure, 'later');
    expect(retryOf(error, 30_000)).toEqual({ retryCapMs: 30_000, waitMs: 0 });
    expect(retryOf(error, MINUTE_MS)).toEqual({ retryCapMs: MINUTE_MS, waitMs: 0 });
    expect(retryOf(error, 60 * MINUTE_MS), 'pauses grow to a minute at most').toEqual({
      retryCapMs: MINUTE_MS,
      waitMs: 0,
    });
  });

  it('waits for as long as the gateway named', () => {
    const error = new GatewayError('backpressure', 'HTTP 429', { retryAfterMs: 7_000 });
    expect(retryOf(error, MINUTE_MS)).toEqual({ retryCapMs: MINUTE_MS, waitMs: 7_000 });
  });

  it('retries what failed on our side like any other', () => {
    expect(retryOf(new CardpollError('unavailable', 'redis_unreachable', 'away'), MINUTE_MS)).toEqual({
      retryCapMs: MINUTE_MS,
      waitMs: 0,
    });
    expect(retryOf('an unknown error', 30_000)).toEqual({ retryCapMs: 30_000, waitMs: 0 });
  });

  it.each([
    ['the kind of what the gateway did', new GatewayError('timeout', 'no answer'), 'timeout'],
    [
      'the code of an error of ours',
      new CardpollError('unavailable', 'redis_unreachable', 'x'),
      'redis_unreachable',
    ],
    ['internal for a mistake in the program', new TypeError('x is not a function'), 'internal'],
  ])('names as reason %s', (_, error, reason) => {
    expect(failureNoteOf(error, 7, 120)).toMatchObject({ reason });
  });

  it('remembers the beginning of what the gateway said, which may be a page', () => {
    const page = `<html>${'x'.repeat(10_000)}`;
    expect(failureNoteOf(new GatewayError('http', page), 7, 120)).toEqual({
      cardId: 7,
      reason: 'http',
      message: page.slice(0, 200),
      durationMs: 120,
    });
  });
});
