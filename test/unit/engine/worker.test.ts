// What a worker may do with what it claimed, and how long: repeated claims, deadlines, slots at the end. The live store
// is the real one of this process, on a clock that the test moves; passes are made one by one.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../src/domain/card.ts';
import { ConfigMatcher, type PollingConfig } from '../../../src/domain/polling-config.ts';
import type { CardReader } from '../../../src/engine/card-reader.ts';
import type { Deadline } from '../../../src/engine/deadline.ts';
import { ResultWriter } from '../../../src/engine/result-writer.ts';
import { StatsRecorder } from '../../../src/engine/stats-recorder.ts';
import { Worker } from '../../../src/engine/worker.ts';
import { GatewayError } from '../../../src/gateway/gateway.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import type { FailureNote } from '../../../src/store/ports/failure-log.ts';
import type { LiveStore } from '../../../src/store/ports/live-store.ts';
import type { Settlement, WorkItem, WorkQueue } from '../../../src/store/ports/work-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const LEASE_MS = 15_000;
/** A card that is no more. */
const REMOVED = 404;

let clock: FakeClock;
let live: LiveStore;
let writer: ResultWriter;
/** What the tasks were given to poll, with the time they had. */
let polls: Array<{ readonly cardId: number; readonly remainingMs: number }>;
let verdicts: Array<[number, Settlement['verdict']]>;
let noted: FailureNote[];
let poll: (deadline: Deadline) => Promise<void>;
/** What happens while cards are read. */
let reading: () => void;

const unexpected = (error: unknown) => expect.unreachable(String(error));

beforeEach(() => {
  clock = new FakeClock();
  live = openEmbeddedLiveStore({ clock });
  [polls, verdicts, noted] = [[], [], []];
  poll = async () => {};
  reading = () => {};
  writer = new ResultWriter({
    // Settling would give slots back too: only the worker may here.
    work: {
      settle: async (_, settlements) => {
        for (const { item, verdict } of settlements) verdicts.push([item.cardId, verdict]);
        return { fenced: 0 };
      },
    },
    failures: { note: async (_, failures) => void noted.push(...failures) },
    results: { write: async () => ({ staleUsage: [] }) },
    triggers: { count: async () => {} },
    onWritten: async () => {},
    onRefused: unexpected,
    onFenced: unexpected,
    onError: (_, error) => unexpected(error),
    clock,
    random: () => 0.5,
    writeBuffer: 100,
    retryBaseMs: 1_000,
  });
});

type Deps = ConstructorParameters<typeof Worker>[0];

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
        return { outcome: { cardId, taskType: 'realname', polledAtMs: deadline.nowMs() }, fields: {} };
      },
    },
    workerId: 'w',
    work: {
      claim: (type, request) => live.work.claim(type, request),
      release: (type, items) => live.work.release(type, items),
      pause: (type, pause) => live.work.pause(type, pause),
      onWork: (type, listener) => live.work.onWork(type, listener),
      ...work,
    },
    reader: { read } as CardReader,
    writer,
    stats: new StatsRecorder(live.stats, 'w', { poll: () => {} }, { clock, onError: unexpected }),
    flow: { permit: () => ({ calls: 100, retries: true, used: () => {} }), breakers: () => [] },
    totalInFlight: () => 0,
    matcher: () => new ConfigMatcher([]),
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
  let failures = 1;
  const worker = makeWorker({
    release: async (type, items) => {
      failures -= 1;
      if (failures === 0) throw new Error('away');
      await live.work.release(type, items);
    },
  });
  await live.manual.push('realname', ['1']);
  await worker.runOnce();
  await waitFor(() => worker.inFlight === 0, { everyMs: 1, what: 'the call to end' });
  await expect(worker.runOnce()).rejects.toThrow('away');
  expect(await slotsHeld()).toBe(1);
  await worker.runOnce();
  expect(await slotsHeld()).toBe(0);
  await worker.stop();
});

/** A store of which these items are claimed, once. */
function claiming(...items: ReadonlyArray<Partial<WorkItem>>): Partial<WorkQueue> {
  const waiting = items.map((item): WorkItem => {
    const { cardId = 1, lane = 'schedule' } = item;
    return { cardId, lane, member: String(cardId), token: '1', failing: false, ...item };
  });
  return {
    claim: async () => ({
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
  ['pauses its type for as long as the gateway asks, when it refuses many', false, [7_000]],
  ['takes no refusal of a failing card for a sign that the gateway wants less', true, []],
])('%s', async (_, failing, paused) => {
  const pauses: number[] = [];
  const pause: WorkQueue['pause'] = async (_type, { ms }) => void pauses.push(ms);
  const items = [1, 2, 3].map((cardId) => ({ cardId, failing }));
  const worker = makeWorker({ ...claiming(...items), pause }, configs({}));
  poll = () => Promise.reject(new GatewayError('backpressure', 'HTTP 429', { retryAfterMs: 7_000 }));
  await worker.runOnce();
  await worker.stop();
  expect(pauses).toEqual(paused);
  await writer.stop();
});

it('returns what it cannot read, and claims nothing for a second', async () => {
  const told: unknown[] = [];
  let claims = 0;
  const work: Partial<WorkQueue> = {
    claim: (type, request) => {
      claims += 1;
      return live.work.claim(type, request);
    },
  };
  const worker = makeWorker(work, { onError: (error) => void told.push(error) });
  await live.manual.push('realname', ['1']);
  reading = () => {
    throw new Error('away');
  };
  await worker.runOnce();
  await waitFor(() => told.length === 1, { everyMs: 1, what: 'the failure to be told' });
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
