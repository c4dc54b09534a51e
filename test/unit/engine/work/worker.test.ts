// What a worker may do with what it claimed, and how long: repeated claims, deadlines, slots at the end. The live store
// is the real one of this process, on a clock that the test moves; passes are made one by one.

import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import type { PollOutcome, UsageChange } from '../../../../src/domain/results/poll-outcome.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { ResultWriter } from '../../../../src/engine/results/result-writer.ts';
import { StatsRecorder } from '../../../../src/engine/stats/stats-recorder.ts';
import { cardPaceOf } from '../../../../src/engine/work/card-pace.ts';
import type { CardReader } from '../../../../src/engine/work/card-reader.ts';
import type { Deadline } from '../../../../src/engine/work/task.ts';
import { Worker } from '../../../../src/engine/work/worker.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { FailureNote, NotedFailure } from '../../../../src/store/ports/live/poll-stats.ts';
import type { Settlement, WorkItem, WorkQueue } from '../../../../src/store/ports/live/work-queue.ts';
import type { OwedCard } from '../../../../src/store/ports/records/trigger-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore, pauseByOperator, setLimit } from '../../../support/limits.ts';
import { waitFor } from '../../../support/wait-for.ts';

const LEASE_MS = 15_000;
/** A card that is no more. */
const REMOVED = 404;

/** A reading; its numbers do not matter here. */
const USAGE = {} as UsageChange;

let clock: FakeClock;
let live: LiveStore;
let writer: ResultWriter;
/** What the tasks were given to poll, with the time they had. */
let polls: Array<{ readonly cardId: number; readonly remainingMs: number }>;
let verdicts: Array<[number, Settlement['verdict']]>;
/** Milliseconds that cards wait which were too early. */
let waits: number[];
let noted: FailureNote[];
/** Cards of triggers that were counted, and those that wait, with their wait. */
let counted: number[];
let deferred: Array<[number, number]>;
let written: PollOutcome[];
/** Task type and lane of what was claimed. */
let metered: string[];
/** Backoff caps under which cards were settled. */
let caps: number[];
/** Cards whose usage another worker wrote first. */
let stale: readonly number[];
let poll: (deadline: Deadline) => Promise<void>;
/** What happens while cards are read. */
let reading: () => void;

const unexpected = (error: unknown) => expect.unreachable(String(error));

beforeEach(() => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  [polls, verdicts, waits, noted, written, caps, counted, deferred] = [[], [], [], [], [], [], [], []];
  [stale, metered] = [[], []];
  poll = async () => {};
  reading = () => {};
  writer = new ResultWriter({
    // Settling would give slots back too: only the worker may here.
    live: {
      work: {
        settle: async (_, settlements, { capMs }) => {
          caps.push(capMs);
          for (const { item, verdict, waitMs = 0 } of settlements) {
            verdicts.push([item.cardId, verdict]);
            if (verdict === 'early') waits.push(waitMs);
          }
          return { fenced: 0 };
        },
        renew: async (_, items) => items,
      },
      failures: { note: async (_, failures) => void noted.push(...failures) },
    },
    records: {
      results: {
        write: async (outcomes) => {
          written.push(...outcomes);
          return { staleUsage: stale, otherIccid: [] };
        },
      },
      triggers: {
        count: async (results) => void counted.push(...results.map(({ cardId }) => cardId)),
        defer: async (cards) =>
          void deferred.push(...cards.map(({ cardId, waitMs }) => [cardId, waitMs] as [number, number])),
      },
    },
    meter: { settled: () => {} },
    onWritten: async () => {},
    log: { warn: unexpected, error: unexpected },
    onError: (_, error) => unexpected(error),
    clock,
    random: () => 0.5,
    writeBuffer: 100,
    retryBaseMs: 1_000,
    leaseMs: 15_000,
  });
});

type Deps = ConstructorParameters<typeof Worker>[0];

function recorder(): StatsRecorder {
  const meter = { poll: () => {} };
  return new StatsRecorder({ live, instanceId: 'w', meter, clock, onError: unexpected });
}

function makeWorker(work: Partial<WorkQueue> = {}, over: Partial<Deps> = {}): Worker {
  const read = async (cardIds: readonly number[]) => {
    reading();
    const known = cardIds.filter((cardId) => cardId !== REMOVED);
    return new Map(known.map((cardId) => [cardId, { cardId, carrierId: cardId } as Card]));
  };
  return new Worker({
    task: {
      taskType: 'realname',
      poll: async ({ cardId }, deadline) => {
        polls.push({ cardId, remainingMs: deadline.remainingMs() });
        await poll(deadline);
        const outcome = { cardId, taskType: 'realname', polledAtMs: deadline.nowMs() } as const;
        return { outcome: stale.includes(cardId) ? { ...outcome, usage: USAGE } : outcome, fields: {} };
      },
    },
    instanceId: 'w',
    live: {
      work: {
        claim: (type, request) => live.work.claim(type, request),
        hold: (type, items) => live.work.hold(type, items),
        release: (type, items) => live.work.release(type, items),
        pause: (type, pause) => live.work.pause(type, pause),
        onWork: (type, listener) => live.work.onWork(type, listener),
        ...work,
      },
    },
    meter: {
      claimed: (taskType, { items }) => void metered.push(...items.map(({ lane }) => `${taskType} ${lane}`)),
    },
    reader: { read } as CardReader,
    writer,
    stats: recorder(),
    flow: permitting(100).flow,
    cardsPerCall: () => 1,
    matcher: () => new ConfigMatcher([]),
    fleetClock: { timeOf: (claimedAtMs) => claimedAtMs },
    clock,
    leaseMs: LEASE_MS,
    claimBatch: 10,
    log: pino({ enabled: false }),
    onError: unexpected,
    ...over,
  });
}

const slotsHeld = async () => (await live.work.counts('realname')).inFlight;
const polled = (count: number) =>
  waitFor(() => polls.length === count, { everyMs: 1, what: `${count} polls to begin` });

/** A store that carries the claim out and loses the answer, once. */
function losingFirstAnswer(asked: number[]): Partial<WorkQueue> {
  return {
    claim: async (type, request) => {
      asked.push(request.claimNumber);
      const claim = await live.work.claim(type, request);
      if (asked.length === 1) throw new Error('no answer');
      return claim;
    },
  };
}

it('repeats a claim that got no answer under its number, and gets what that one took', async () => {
  const asked: number[] = [];
  const worker = makeWorker(losingFirstAnswer(asked));
  await live.manual.push('realname', ['1', '2']);
  await expect(worker.runOnce()).rejects.toThrow('no answer');
  expect(await slotsHeld()).toBe(2);
  await worker.runOnce();
  await polled(2);
  await live.manual.push('realname', ['3']);
  await worker.runOnce();
  await polled(3);
  expect(asked).toEqual([1, 1, 2]);
  expect(polls.map(({ cardId }) => cardId).sort()).toEqual([1, 2, 3]);
  await worker.stop();
});

it('counts the time for a repeated claim from its first attempt: half a lease', async () => {
  const worker = makeWorker(losingFirstAnswer([]));
  await live.manual.push('realname', ['1']);
  await expect(worker.runOnce()).rejects.toThrow('no answer');
  clock.advance(2_000);
  await worker.runOnce();
  await polled(1);
  expect(polls[0]?.remainingMs).toBe(LEASE_MS / 2 - 2_000);
  clock.advance(100);
  await live.manual.push('realname', ['2']);
  await worker.runOnce();
  await polled(2);
  expect(polls[1]?.remainingMs, 'an answered claim is not the first attempt of the next').toBe(LEASE_MS / 2);
  await worker.stop();
});

it('begins no call without time for it: the card is returned', async () => {
  const worker = makeWorker();
  await live.manual.push('realname', ['1', '2']);
  // As after SIGSTOP, or a record store that took its time.
  reading = () => clock.advance(LEASE_MS / 2);
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(polls).toEqual([]);
  expect(verdicts).toEqual([
    [1, 'returned'],
    [2, 'returned'],
  ]);
});

it('lets calls end when it is stopped, begins no other, and gives all slots back', async () => {
  const worker = makeWorker();
  await live.manual.push('realname', ['1']);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  poll = () => answered;
  await worker.runOnce();
  await polled(1);
  let stopped: Promise<void> | null = null;
  reading = () => {
    stopped = worker.stop();
  };
  await live.manual.push('realname', ['2']);
  await worker.runOnce();
  await waitFor(() => stopped !== null, { everyMs: 1, what: 'the worker to be stopped' });
  expect(await slotsHeld()).toBe(2);
  answer();
  await stopped;
  expect(worker.inFlight).toBe(0);
  expect(await slotsHeld()).toBe(0);
  await writer.stop();
  expect(polls.map(({ cardId }) => cardId)).toEqual([1]);
  expect(verdicts.sort()).toEqual([
    [1, 'done'],
    [2, 'returned'],
  ]);
});

it('gives slots back again when that failed, with the next pass', async () => {
  let isAway = false;
  const worker = makeWorker({
    claim: async (type, request) => {
      if (isAway) throw new Error('away');
      return live.work.claim(type, request);
    },
  });
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  await waitFor(() => worker.inFlight === 0, { everyMs: 1, what: 'the call to end' });
  isAway = true;
  await expect(worker.runOnce()).rejects.toThrow('away');
  expect(await slotsHeld()).toBe(1);
  isAway = false;
  await worker.runOnce();
  expect(await slotsHeld()).toBe(0);
  await worker.stop();
});

it.each([
  ['by its next claim', 100],
  ['also while it claims nothing', 0],
])('holds the slots of its calls in flight again in a live store that lost them, %s', async (_, calls) => {
  let permitted = 100;
  const worker = makeWorker(
    {},
    { flow: { ...permitting(100).flow, permit: () => ({ calls: permitted, trickle: false }) } },
  );
  let answer = () => {};
  poll = () =>
    new Promise<void>((resolve) => {
      answer = resolve;
    });
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  await polled(1);
  live = openEmbeddedLiveStore({ clock });
  permitted = calls;
  clock.advance(500);
  await worker.runOnce();
  expect(await slotsHeld()).toBe(1);
  answer();
  await waitFor(() => worker.inFlight === 0, { everyMs: 1, what: 'the call to end' });
  await worker.runOnce();
  expect(await slotsHeld()).toBe(0);
  await worker.stop();
});

/** A store of which these items are claimed, once. */
function claiming(...items: ReadonlyArray<Partial<WorkItem>>): Partial<WorkQueue> {
  const waiting = items.map((item): WorkItem => {
    const { cardId = 1, lane = 'schedule' } = item;
    return { cardId, lane, member: String(cardId), token: '1', ...item };
  });
  return {
    claim: async () => ({
      inForce: true,
      items: waiting.splice(0),
      claimedAtMs: clock.now(),
      lateMs: [],
      freeSlots: 10,
      pausedMs: 0,
    }),
  };
}

function configs(...list: ReadonlyArray<Partial<PollingConfig>>): Partial<Deps> {
  const rest = { name: '', taskType: 'realname', cardCondition: 'any', priority: 0 } as const;
  const all = list.map((config, id): PollingConfig => {
    return { id, ...rest, carrierId: null, intervalSeconds: 60, status: 1, ...config };
  });
  return { matcher: () => new ConfigMatcher(all) };
}

it('polls only what an enabled config or an operator asks for; what is no more leaves the queue', async () => {
  const work = claiming(
    { cardId: 1 },
    { cardId: 2 },
    { cardId: 3 },
    { cardId: 2, lane: 'manual' },
    { cardId: REMOVED },
    { cardId: REMOVED, lane: 'manual' },
  );
  const worker = makeWorker(work, configs({ carrierId: 1 }, { carrierId: 2, status: 0 }));
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(polls.map(({ cardId }) => cardId)).toEqual([1, 2]);
  expect(verdicts.sort()).toEqual([
    [1, 'done'],
    [2, 'done'],
    [2, 'done'],
    [3, 'done'],
    [REMOVED, 'done'],
    [REMOVED, 'failed'],
  ]);
});

it('fails the card whose poll throws, and remembers why', async () => {
  const worker = makeWorker(claiming({ cardId: 1 }), configs({}));
  poll = () => Promise.reject(new GatewayError('timeout', 'no answer'));
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(verdicts).toEqual([[1, 'failed']]);
  expect(noted).toMatchObject([{ cardId: 1, reason: 'timeout', message: 'no answer' }]);
});

it.each([
  ['pauses its type for as long as a gateway asks that refuses every call', true, [7_000]],
  ['takes no refusal of some cards for a sign that the gateway refuses all', false, []],
])('%s', async (_, refusesAll, paused) => {
  const pauses: number[] = [];
  const pause: WorkQueue['pause'] = async (_type, { ms }) => void pauses.push(ms);
  const flow = { ...permitting(100).flow, refusesAll: () => refusesAll };
  const worker = makeWorker({ ...claiming({ cardId: 1 }), pause }, { ...configs({}), flow });
  poll = () => Promise.reject(new GatewayError('backpressure', 'HTTP 429', { retryAfterMs: 7_000 }));
  await worker.runOnce();
  await worker.stop();
  expect(pauses).toEqual(paused);
  await writer.stop();
});

it('returns what it cannot read, and claims nothing for a second', async () => {
  const errors: unknown[] = [];
  let claims = 0;
  const work: Partial<WorkQueue> = {
    claim: (type, request) => {
      claims += 1;
      return live.work.claim(type, request);
    },
  };
  const worker = makeWorker(work, { onError: (error) => void errors.push(error) });
  await live.manual.push('realname', ['1']);
  reading = () => {
    throw new Error('away');
  };
  await worker.runOnce();
  await waitFor(() => errors.length === 1, { everyMs: 1, what: 'the failure to be reported' });
  clock.advance(999);
  await worker.runOnce();
  expect(claims).toBe(1);
  clock.advance(1);
  await worker.runOnce();
  expect(claims).toBe(2);
  await worker.stop();
  await writer.stop();
  expect(verdicts).toEqual([[1, 'returned']]);
});

it('claims nothing while cards are read that came too late', async () => {
  let claims = 0;
  const claim: WorkQueue['claim'] = (type, request) => {
    claims += 1;
    return live.work.claim(type, request);
  };
  const reader = { read: async () => new Map(), holdsClaims: true };
  const worker = makeWorker({ claim }, { reader: reader as unknown as CardReader });
  await worker.runOnce();
  expect(claims).toBe(0);
  reader.holdsClaims = false;
  await worker.runOnce();
  expect(claims).toBe(1);
  await worker.stop();
});

it('listens once however often it is started, and polls again after a stop', async () => {
  let listening = 0;
  const onWork: WorkQueue['onWork'] = (type, listener) => {
    listening += 1;
    const end = live.work.onWork(type, listener);
    return () => {
      listening -= 1;
      end();
    };
  };
  const worker = makeWorker({ onWork });
  await worker.stop();
  await worker.start();
  await worker.start();
  expect(listening).toBe(1);
  await live.manual.push('realname', ['1']);
  await polled(1);
  await worker.stop();
  expect(listening).toBe(0);
  await worker.start();
  await live.manual.push('realname', ['2']);
  await polled(2);
  await worker.stop();
});

/** Calls that the gateway answers when the test says so, the oldest first. */
function answering(): { readonly waiting: Array<() => void> } {
  const waiting: Array<() => void> = [];
  poll = () => new Promise((resolve) => waiting.push(resolve));
  return { waiting };
}

/** Flow control that permits so many calls, and what it was asked. */
function permitting(calls: number, trickle = false) {
  const asked: unknown[] = [];
  const madeRoom: unknown[] = [];
  const givenBack: unknown[] = [];
  const flow: Deps['flow'] = {
    ready: async () => {},
    permit: (...args) => {
      asked.push(args);
      return { calls, trickle };
    },
    giveBack: (interfaceName) => givenBack.push(interfaceName),
    refusesAll: () => false,
    makeRoom: (interfaceName) => madeRoom.push(interfaceName),
    breakers: () => [],
  };
  return { asked, madeRoom, givenBack, flow };
}

const cardIds = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1));

it('hands what was found out to the writer, and counts what it claims', async () => {
  const worker = makeWorker();
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(written).toEqual([{ cardId: 1, taskType: 'realname', polledAtMs: clock.now() }]);
  expect(metered).toEqual(['realname manual']);
});

it.each([
  ['as a claim may take', { claimBatch: 3 }, 0],
  ['as the gateway can take', { flow: permitting(3).flow }, 0],
  ['as the writer has room for', {}, 97],
])('claims as many cards %s', async (_, over, reserved) => {
  const worker = makeWorker({}, { claimBatch: 10, ...over });
  writer.reserve(reserved);
  await live.manual.push('realname', cardIds(20));
  await worker.runOnce();
  await polled(3);
  expect((await live.work.counts('realname')).manualLength).toBe(17);
  await worker.stop();
});

it('claims a single card where there is room for one, and none where there is none', async () => {
  const { flow } = permitting(1);
  const { waiting } = answering();
  writer.reserve(98);
  const worker = makeWorker({}, { flow });
  await live.manual.push('realname', cardIds(20));
  await worker.runOnce();
  await polled(1);
  writer.reserve(1);
  expect(await worker.runOnce(), 'milliseconds until it looks again').toBe(50);
  expect(polls).toHaveLength(1);
  waiting.shift()?.();
  await worker.stop();
});

it('asks flow control for a permit with its calls in flight', async () => {
  const { flow, asked } = permitting(5);
  const { waiting } = answering();
  const worker = makeWorker({}, { flow });
  await live.manual.push('realname', ['1', '2']);
  await worker.runOnce();
  await polled(2);
  await worker.runOnce();
  expect(asked).toEqual([
    ['realname', 0],
    ['realname', 2],
  ]);
  for (const answer of waiting) answer();
  await worker.stop();
});

it('claims for the trickle when that is all that is permitted, and rests after it', async () => {
  const { flow, givenBack } = permitting(1, true);
  const requests: unknown[] = [];
  const claim: WorkQueue['claim'] = (type, request) => {
    requests.push(request);
    return live.work.claim(type, request);
  };
  const worker = makeWorker({ claim }, { flow });
  await live.manual.push('realname', ['1', '2']);
  expect(await worker.runOnce()).toBeGreaterThan(0);
  await polled(1);
  expect(requests).toMatchObject([{ max: 1, trickle: true }]);
  expect(givenBack).toEqual([]);
  await worker.stop();
});

it('gives a permit for the trickle back that got no card', async () => {
  const { flow, givenBack } = permitting(1, true);
  await makeWorker({}, { flow }).runOnce();
  expect(givenBack).toEqual(['realname']);
});

it('has flow control make room when the limit is used up, and only then', async () => {
  const { flow, madeRoom } = permitting(100);
  const { waiting } = answering();
  const worker = makeWorker({}, { flow });
  await setLimit(live.work, 'realname', 2);
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  expect(madeRoom).toEqual([]);
  await live.manual.push('realname', ['2', '3']);
  await worker.runOnce();
  await polled(2);
  expect(madeRoom).toEqual(['realname']);
  for (const answer of waiting) answer();
  await worker.stop();
});

it('claims on at once after a full claim, looks again soon after another, and rests longer and longer without', async () => {
  const { waiting } = answering();
  let reads = 0;
  reading = () => {
    reads += 1;
  };
  const worker = makeWorker({}, { claimBatch: 2 });
  const rests: number[] = [];
  const pass = async (times = 1) => {
    for (let i = 0; i < times; i += 1) rests.push(await worker.runOnce());
  };
  await live.manual.push('realname', cardIds(5));
  await pass(3);
  await pass(8);
  expect(rests).toEqual([0, 0, 25, 50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
  expect(reads, 'where nothing was claimed nothing is read').toBe(3);
  await live.manual.push('realname', ['6']);
  rests.length = 0;
  await pass(2);
  expect(rests).toEqual([25, 50]);
  await polled(6);
  for (const answer of waiting) answer();
  await worker.stop();
});

it('notes that the limit is reached, and looks again soon for a slot that others free', async () => {
  const { waiting } = answering();
  const stats = recorder();
  const limitReached = async () => {
    await stats.runOnce();
    return (await live.stats.read('realname')).limitReached;
  };
  const worker = makeWorker({}, { stats });
  await setLimit(live.work, 'realname', 2);
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  expect(await limitReached(), 'one slot is free').toBe(0);
  await live.manual.push('realname', ['2', '3']);
  const rests = [await worker.runOnce(), await worker.runOnce(), await worker.runOnce()];
  expect(rests).toEqual([25, 25, 25]);
  expect(await limitReached()).toBe(3);
  await pauseByOperator(live.work, 'realname', { ms: 1_000, reason: 'r', by: 'o' });
  await worker.runOnce();
  expect(await limitReached(), 'it is the pause that keeps cards waiting').toBe(3);
  await polled(2);
  for (const answer of waiting) answer();
  await worker.stop();
});

it('rests until a pause ends, a quarter of a second at most: it may be lifted', async () => {
  const worker = makeWorker();
  // A process that has been up for a while.
  clock.advance(1_000_000);
  await pauseByOperator(live.work, 'realname', { ms: 1_000, reason: 'r', by: 'o' });
  expect(await worker.runOnce()).toBe(250);
  expect(worker.gate.pausedMs).toBe(1_000);
  clock.advance(900);
  expect(worker.gate.pausedMs).toBe(100);
  expect(await worker.runOnce()).toBe(100);
  clock.advance(100);
  expect(await worker.runOnce()).toBe(25);
  clock.advance(100);
  expect(worker.gate.pausedMs).toBe(0);
});

it('is stalled since its last answer, of the store or of what holds it back', async () => {
  clock.advance(1_000_000);
  let reachable = false;
  const claim: WorkQueue['claim'] = async (type, request) => {
    if (!reachable) throw new Error('away');
    return live.work.claim(type, request);
  };
  const worker = makeWorker({ claim });
  clock.advance(5_000);
  await expect(worker.runOnce()).rejects.toThrow('away');
  expect(worker.stalledMs).toBe(5_000);
  reachable = true;
  await worker.runOnce();
  expect(worker.stalledMs).toBe(0);
  clock.advance(3_000);
  writer.reserve(100);
  await worker.runOnce();
  expect(worker.stalledMs, 'a full writer is no stall').toBe(0);
});

it('gives back soon, with the next claim, a slot that a call freed during a claim', async () => {
  const { waiting } = answering();
  const worker = makeWorker({
    claim: async (type, request) => {
      waiting.shift()?.();
      await waitFor(() => worker.inFlight === 0, { everyMs: 1, what: 'the call to end' });
      return live.work.claim(type, request);
    },
  });
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  await polled(1);
  expect(await worker.runOnce(), 'milliseconds in which others end with it').toBe(2);
  expect(await slotsHeld()).toBe(1);
  await worker.runOnce();
  expect(await slotsHeld()).toBe(0);
  await worker.stop();
});

it('replaces calls that end together with one claim, two milliseconds later, while the limit is reached', async () => {
  const { waiting } = answering();
  let claims = 0;
  const worker = makeWorker({
    claim: (type, request) => {
      claims += 1;
      return live.work.claim(type, request);
    },
  });
  await setLimit(live.work, 'realname', 5);
  await live.manual.push('realname', cardIds(10));
  await worker.start();
  await clock.run(0);
  expect(polls).toHaveLength(5);
  // The work that came was signalled to the worker: the turn after it has ended, too.
  await clock.run(1);
  const claimsBefore = claims;
  const sleepers = clock.sleepers;
  for (const answer of waiting.splice(0)) answer();
  await clock.run(1);
  expect(polls).toHaveLength(5);
  // One rest gathers the slots, one the results, and one keeps their leases.
  expect(clock.sleepers).toBe(sleepers + 3);
  await clock.run(1);
  expect(polls).toHaveLength(10);
  expect(claims).toBe(claimsBefore + 1);
  for (const answer of waiting) answer();
  await worker.stop();
});

it('claims again at once when work came while it claimed, and only then', async () => {
  let claims = 0;
  let signal = () => {};
  const worker = makeWorker({
    onWork: (_, listener) => {
      signal = listener;
      return () => {};
    },
    claim: async (type, request) => {
      claims += 1;
      if (claims <= 2) signal();
      return live.work.claim(type, request);
    },
  });
  await worker.start();
  await clock.run(0);
  await clock.run(24);
  expect(claims).toBe(3);
  await clock.run(1);
  expect(claims).toBe(4);
  // In the middle of the next rest, which is longer.
  await clock.run(10);
  signal();
  await clock.run(0);
  expect(claims).toBe(5);
  await worker.stop();
});

it.each([
  ['begins a call', 20, 'done'],
  ['begins no call', 19, 'returned'],
] as const)('%s with %i milliseconds left', async (_, leftMs, verdict) => {
  const worker = makeWorker();
  await live.manual.push('realname', ['1']);
  reading = () => clock.advance(LEASE_MS / 2 - leftMs);
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(verdicts).toEqual([[1, verdict]]);
});

describe('a gateway that limits the polls of one card', () => {
  const EVERY_MS = 900_000;
  const LIMIT = { kind: 'card', interfaces: null, everySeconds: 900 } as const;
  let succeededAt: Map<number, number>;
  let failedAt: Map<number, number>;
  /** Cards that were too early for a trigger before. */
  let waiting: OwedCard[];
  const cardPace = () =>
    cardPaceOf('realname', [LIMIT], {
      live: {
        failures: {
          last: async () =>
            new Map([...failedAt].map(([cardId, atMs]) => [cardId, { cardId, atMs } as NotedFailure])),
        },
      },
      records: {
        cards: { lastPolls: async () => succeededAt },
        triggers: { earlyOf: async () => waiting },
      },
      clock,
      log: pino({ enabled: false }),
    });

  beforeEach(() => {
    succeededAt = new Map();
    failedAt = new Map();
    waiting = [];
  });

  const manual = (cardId: number, trigger: string) =>
    ({ cardId, lane: 'manual', member: `${cardId}:${trigger}` }) as const;

  async function run(work: Partial<WorkQueue>, intervalSeconds = 900): Promise<void> {
    const worker = makeWorker(work, {
      ...configs({ intervalSeconds }),
      cardPace: cardPace(),
    });
    await worker.runOnce();
    await waitFor(() => verdicts.length > 0 || polls.length > 0, { everyMs: 1, what: 'polls' });
    await worker.stop();
    await writer.stop();
  }

  it('lets polls by hand wait that come too early, and counts them neither way', async () => {
    const now = clock.now();
    succeededAt = new Map([
      [1, now - 300_000],
      [2, now - EVERY_MS],
    ]);
    failedAt = new Map([[3, now - 1_000]]);
    await run(claiming(manual(1, 't1'), manual(2, 't1'), manual(3, 't1'), manual(4, 't1')));
    expect(polls.map(({ cardId }) => cardId)).toEqual([2, 4]);
    expect(counted.sort()).toEqual([2, 4]);
    expect(deferred.sort()).toEqual([
      [1, EVERY_MS - 300_000],
      [3, EVERY_MS - 1_000],
    ]);
    expect(verdicts.sort()).toEqual([
      [1, 'early'],
      [2, 'done'],
      [3, 'early'],
      [4, 'done'],
    ]);
  });

  it('polls a card once that two triggers name at the same time', async () => {
    await run(claiming(manual(1, 't1'), manual(1, 't2')));
    expect(polls.map(({ cardId }) => cardId)).toEqual([1]);
    expect([counted, deferred]).toEqual([[1], [[1, EVERY_MS]]]);
  });

  it('knows a poll of its own whose result is not written yet', async () => {
    await run(claiming({ cardId: 1 }, manual(1, 't1')));
    expect(polls.map(({ cardId }) => cardId)).toEqual([1]);
    expect(deferred).toEqual([[1, EVERY_MS]]);
  });

  it.each([
    ['an interval with room for lateness', 990, 899_999, 900_000],
    ['the shortest interval', 900, 818_181, 818_182],
    ['an interval from before the limit', 300, 818_181, 818_182],
  ])('lets a scheduled poll wait that follows another poll too early: %s', async (_, every, early, late) => {
    const now = clock.now();
    succeededAt = new Map([
      [1, now - early],
      [2, now - late],
      [3, now - late],
    ]);
    failedAt = new Map([[3, now - early]]);
    await run(claiming({ cardId: 1 }, { cardId: 2 }, { cardId: 3 }, { cardId: 4 }), every);
    expect(polls.map(({ cardId }) => cardId)).toEqual([2, 4]);
    expect(deferred).toEqual([]);
    expect(verdicts.sort()).toEqual([
      [1, 'early'],
      [2, 'done'],
      [3, 'early'],
      [4, 'done'],
    ]);
    expect(waits).toEqual([EVERY_MS - early, EVERY_MS - early]);
  });

  it('is not held up by polls of the future, from before a clock was set back', async () => {
    succeededAt = new Map([
      [1, clock.now() + 3_600_000],
      [2, clock.now() + 1_000],
    ]);
    await run(claiming(manual(1, 't1'), { cardId: 1 }, { cardId: 2 }));
    expect(polls.map(({ cardId }) => cardId)).toEqual([1]);
  });

  it('counts any poll for the triggers that were too early: their own could always come too late', async () => {
    waiting = [
      { triggerId: 't1', cardId: 1 },
      { triggerId: 't1', cardId: 2 },
      { triggerId: 't2', cardId: 2 },
      { triggerId: 't1', cardId: 3 },
    ];
    succeededAt = new Map([[3, clock.now()]]);
    await run(claiming({ cardId: 1 }, manual(2, 't2'), { cardId: 3 }, { cardId: 4 }));
    expect(polls.map(({ cardId }) => cardId)).toEqual([1, 2, 4]);
    expect(counted.sort()).toEqual([1, 2, 2]);
    expect(deferred).toEqual([]);
  });

  it('leaves a failed card to its ring', async () => {
    poll = () => Promise.reject(new GatewayError('timeout', 'no answer'));
    await run(claiming({ cardId: 1 }));
    expect(verdicts).toEqual([[1, 'failed']]);
    expect(caps).toEqual([0]);
  });
});

it('retries a card whose usage another worker wrote first for as long as its interval', async () => {
  stale = [1];
  const worker = makeWorker(claiming({ cardId: 1 }), configs({ carrierId: 1, intervalSeconds: 30 }));
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(verdicts).toEqual([[1, 'failed']]);
  expect(caps).toEqual([30_000]);
});

it('retries a failed card for as long as its interval, and one without a config never', async () => {
  poll = () => Promise.reject(new GatewayError('timeout', 'no answer'));
  const work = claiming({ cardId: 1 }, { cardId: 2, lane: 'manual' });
  const worker = makeWorker(work, configs({ carrierId: 1, intervalSeconds: 30 }));
  await worker.runOnce();
  await worker.stop();
  await writer.stop();
  expect(verdicts.sort()).toEqual([
    [1, 'failed'],
    [2, 'failed'],
  ]);
  expect(caps.sort()).toEqual([0, 30_000]);
});
