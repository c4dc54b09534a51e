// The exits of one poll, in order, and what it reports: to the statistics that the leader uses, to the log, and to the fleet when
// the gateway asks for less. The live store is the real one of this process, the clock the test's.

import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { growthBucketOf } from '../../../../src/domain/results/usage-growth.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { StatsRecorder } from '../../../../src/engine/stats/stats-recorder.ts';
import type { Gate } from '../../../../src/engine/work/gate.ts';
import { Poller, type Verdict } from '../../../../src/engine/work/poll.ts';
import { Deadline, type TaskResult } from '../../../../src/engine/work/task.ts';
import { GatewayError, type GatewayFailure } from '../../../../src/gateway/gateway.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { WorkItem } from '../../../../src/store/ports/live/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const CARD = { cardId: 7, iccid: '8986000000000000007', carrierId: 1 } as Card;
const ITEM: WorkItem = { cardId: 7, lane: 'schedule', member: '7', token: '1' };
const BY_HAND: WorkItem = { ...ITEM, lane: 'manual', member: '7:t1' };
const OUTCOME = { cardId: 7, taskType: 'carddata', polledAtMs: 1 } as const;

let clock: FakeClock;
let live: LiveStore;
let stats: StatsRecorder;
let lines: Array<Record<string, unknown>>;
let errors: unknown[];
/** For how long claims wait after cards could not be read. */
let unread: number[];
/** How long the gateway takes; what it refuses with, unless null. */
let tookMs: number;
let failure: unknown;
let growth: Omit<TaskResult, 'outcome' | 'fields'>;
/** Whether the gateway refuses every call. */
let refusesAll: boolean;
/** What the gate answers; whether it was asked. */
let answer: Awaited<ReturnType<Gate['card']>>;
let asked: boolean;
let intervalSeconds: number;
let enabled: boolean;

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
  [lines, errors, unread] = [[], [], []];
  [tookMs, failure, growth, refusesAll] = [0, null, {}, false];
  [answer, asked, intervalSeconds, enabled] = [{ may: 'now' }, false, 60, true];
});

type Deps = ConstructorParameters<typeof Poller>[0];

function makePoller(over: Partial<Deps> = {}): Poller {
  return new Poller({
    task: {
      taskType: 'carddata',
      poll: async () => {
        clock.advance(tookMs);
        if (failure !== null) throw failure;
        return { outcome: OUTCOME, fields: { flow: 12.5 }, ...growth };
      },
    },
    instanceId: 'w',
    live,
    reader: { read: async () => new Map([[CARD.cardId, CARD]]) },
    gate: {
      unread: (forMs) => void unread.push(forMs),
      card: async () => {
        asked = true;
        return answer;
      },
    },
    cardPace: null,
    matcher: () => new ConfigMatcher([configOf()]),
    stats,
    flow: { refusesAll: () => refusesAll },
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onError: (error, retryInMs) => void errors.push([error, retryInMs]),
    ...over,
  });
}

const configOf = (): PollingConfig => {
  const status = enabled ? 1 : 0;
  const rest = { id: 1, name: '', carrierId: null, cardCondition: 'any', priority: 0 } as const;
  return { ...rest, taskType: 'carddata', intervalSeconds, status };
};

const deadline = () => new Deadline(clock, clock.monotonic(), 60_000, clock.now());
const poll = (poller: Poller, item = ITEM, card: Card | null = CARD): Promise<Verdict> =>
  poller.poll(item, card, deadline());

/** Polls that end in turn with this; null succeeds. */
async function polls(poller: Poller, ...failures: readonly unknown[]): Promise<void> {
  for (failure of failures) await poll(poller);
}

async function counted() {
  await stats.runOnce();
  return live.stats.read('carddata');
}

const refusal = new GatewayError('backpressure', 'HTTP 429');

it('counts and logs a poll that succeeded, with the time it took in whole milliseconds', async () => {
  tookMs = 120.4;
  expect(await poll(makePoller())).toEqual({
    verdict: 'done',
    outcome: OUTCOME,
    retryCapMs: 60_000,
    alsoFor: [],
  });
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
  expect(await poll(makePoller())).toEqual({
    verdict: 'failed',
    failure: { cardId: 7, reason: 'http', message: 'HTTP 500', durationMs: 200 },
    retryCapMs: 60_000,
    waitMs: 0,
    alsoFor: [],
  });
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
  expect(await poll(makePoller())).toMatchObject({ verdict: 'failed', failure: { reason } });
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
  const poller = makePoller({ live: { work: { pause: () => Promise.reject(away) } } });
  await polls(poller, later);
  await clock.run(0);
  expect(errors).toEqual([[away, 0]]);
  failure = null;
  expect(await poll(poller)).toMatchObject({ verdict: 'done', outcome: OUTCOME });
});

const MINUTE_MS = 60_000;

describe('a failed poll', () => {
  /** A poll that fails with this, of a card with this interval. */
  async function retryAfter(error: unknown, intervalMs: number) {
    failure = error;
    intervalSeconds = intervalMs / 1_000;
    const { retryCapMs, waitMs } = await poll(makePoller());
    return { retryCapMs, waitMs };
  }

  it.each(['card', 'business'] as const)('retries no card that the gateway refuses: %s', async (kind) => {
    const error = new GatewayError(kind, 'no', { retryAfterMs: 5_000 });
    expect(await retryAfter(error, MINUTE_MS)).toEqual({ retryCapMs: 0, waitMs: 0 });
  });

  const FAILURES: readonly GatewayFailure[] = ['timeout', 'http', 'backpressure', 'held', 'malformed'];

  it.each(FAILURES)('retries what may succeed later until its ring asks for it: %s', async (kind) => {
    const error = new GatewayError(kind, 'later');
    expect(await retryAfter(error, 30_000)).toEqual({ retryCapMs: 30_000, waitMs: 0 });
    expect(await retryAfter(error, MINUTE_MS)).toEqual({ retryCapMs: MINUTE_MS, waitMs: 0 });
    const hourly = await retryAfter(error, 60 * MINUTE_MS);
    expect(hourly, 'pauses grow to a minute at most').toEqual({ retryCapMs: MINUTE_MS, waitMs: 0 });
  });

  it('waits for as long as the gateway named', async () => {
    const error = new GatewayError('backpressure', 'HTTP 429', { retryAfterMs: 7_000 });
    expect(await retryAfter(error, MINUTE_MS)).toEqual({ retryCapMs: MINUTE_MS, waitMs: 7_000 });
  });

  it('is left to the ring of its card where the gateway limits the polls of one card', async () => {
    failure = new GatewayError('timeout', 'no answer');
    const poller = makePoller({ cardPace: { look: async () => {}, triggersOf: () => ['t7'] } });
    expect(await poll(poller)).toMatchObject({ verdict: 'failed', retryCapMs: 0, alsoFor: ['t7'] });
  });

  it('remembers the beginning of what the gateway said, which may be a page', async () => {
    const page = `<html>${'x'.repeat(10_000)}`;
    failure = new GatewayError('http', page);
    expect((await poll(makePoller())).failure).toEqual({
      cardId: 7,
      reason: 'http',
      message: page.slice(0, 200),
      durationMs: 0,
    });
  });
});

describe('a poll that is not made', () => {
  it.each([
    ['a scheduled card that is gone leaves the queue', ITEM, null, { verdict: 'done' }],
    ['a card that is gone fails its trigger', BY_HAND, null, { verdict: 'failed' }],
  ])('%s', async (_, item, card, verdict) => {
    expect(await poll(makePoller(), item, card)).toEqual(verdict);
    expect(asked).toBe(false);
  });

  it('a card of a disabled config leaves the queue, and only a poll by hand is made', async () => {
    enabled = false;
    expect(await poll(makePoller())).toEqual({ verdict: 'done' });
    expect(asked).toBe(false);
    expect(await poll(makePoller(), BY_HAND)).toMatchObject({ verdict: 'done', outcome: OUTCOME });
  });

  it.each([
    [{ may: 'never', why: 'draining' }, { verdict: 'returned' }],
    [
      { may: 'not before', waitMs: 5_000, why: 'card_limit' },
      { verdict: 'early', waitMs: 5_000 },
    ],
  ] as const)('a card follows the answer of the gate: %o', async (given, verdict) => {
    answer = given;
    expect(await poll(makePoller())).toEqual(verdict);
    expect(lines).toEqual([]);
  });

  it('returns all cards of a claim when they cannot be read, and lets claims wait for a second', async () => {
    const away = new CardpollError('unavailable', 'cards_not_read', 'away');
    const poller = makePoller({ reader: { read: () => Promise.reject(away) } });
    const ended: Array<[number, Verdict]> = [];
    await poller.batch([ITEM, { ...ITEM, cardId: 8 }], deadline(), ({ cardId }, verdict) =>
      ended.push([cardId, verdict]),
    );
    expect(ended).toEqual([
      [7, { verdict: 'returned' }],
      [8, { verdict: 'returned' }],
    ]);
    expect([unread, errors]).toEqual([[1_000], [[away, 1_000]]]);
  });
});
