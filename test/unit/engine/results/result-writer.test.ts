// What the writer does while the record store refuses, or does not answer. The stores are fakes: what is proven here
// is who waits for whom. With real ones: contract/record-store/refused-results.test.ts.

import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PollOutcome } from '../../../../src/domain/results/poll-outcome.ts';
import { type FinishedItem, ResultWriter } from '../../../../src/engine/results/result-writer.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { FailureNote } from '../../../../src/store/ports/live/poll-stats.ts';
import { renewed, type Settlement, type WorkItem } from '../../../../src/store/ports/live/work-queue.ts';
import type { NotWritten } from '../../../../src/store/ports/records/record-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const GATHER_MS = 50;
const LEASE_MS = 15_000;

let clock: FakeClock;
let writer: ResultWriter;
let write: (outcomes: readonly PollOutcome[]) => Promise<NotWritten>;
let writes: Array<readonly number[]>;
let counted: Array<[number, 'succeeded' | 'failed']>;
let settled: Array<[number, Settlement['verdict']]>;
let refused: number[];
let noted: FailureNote[];
let notes: number;
let events: string[];
/** What happens when a written batch is handed on, its triggers are counted, or it is settled. */
let settling: () => void;
let fenced: number;
let settledTokens: string[];
let renew: (items: readonly WorkItem[], byMs: number) => readonly WorkItem[];
/** Task type, verdicts and the number of fenced results of each settlement. */
let metered: Array<[string, string, number]>;

beforeEach(() => {
  [writes, counted, settled, refused, noted, events] = [[], [], [], [], [], []];
  [settling, fenced, notes, metered] = [() => {}, 0, 0, []];
  settledTokens = [];
  renew = (items, byMs) => items.map((item) => renewed(item, byMs));
  write = async () => ({ staleUsage: [], otherIccid: [] });
  clock = new FakeClock();
  writer = new ResultWriter({
    live: {
      work: {
        settle: async (_, settlements, { capMs }) => {
          settling();
          events.push(`settle ${settlements.length} under ${capMs}`);
          for (const { item, verdict } of settlements) settled.push([item.cardId, verdict]);
          settledTokens.push(...settlements.map(({ item }) => item.token));
          return { fenced };
        },
        renew: async (_, items, byMs) => renew(items, byMs),
      },
      failures: {
        note: async (_, failures) => {
          notes += 1;
          noted.push(...failures);
        },
      },
    },
    meter: {
      settled: (taskType, work, dropped) => {
        metered.push([taskType, work.map(({ verdict }) => verdict).join(' '), dropped]);
      },
    },
    records: {
      results: {
        write: (outcomes) => {
          writes.push(outcomes.map(({ cardId }) => cardId));
          return write(outcomes);
        },
      },
      triggers: {
        count: async (results) => {
          settling();
          events.push(`count ${results.length}`);
          for (const { cardId, succeeded } of results)
            counted.push([cardId, succeeded ? 'succeeded' : 'failed']);
        },
        defer: async (cards) => {
          settling();
          events.push(`defer ${cards.map(({ cardId, waitMs }) => `${cardId} ${waitMs}`)}`);
        },
      },
    },
    onWritten: async (outcomes) => {
      settling();
      events.push(`written ${outcomes.length}`);
    },
    log: pino({ base: null, timestamp: false }, { write: (line: string) => note(JSON.parse(line)) }),
    onError: (stage, _, retryInMs) => void events.push(`${stage} again in ${retryInMs}`),
    clock,
    random: () => 0,
    writeBuffer: 10_000,
    retryBaseMs: 1_000,
    leaseMs: LEASE_MS,
  });
});
afterEach(() => writer.abandon());

function note({ level, msg, card_id, task_type, count, reason }: Record<string, unknown>): void {
  if (msg === 'late results dropped: their lease was over') events.push(`${count} of ${task_type} fenced`);
  else {
    expect({ level, task_type, msg, reason }).toEqual({
      ...{ level: 50, task_type: 'realname', msg: 'result refused by the record store', reason: 'no' },
    });
    refused.push(Number(card_id));
  }
}

function finish(cardId: number, over: Partial<FinishedItem> = {}): void {
  const member = String(cardId);
  writer.reserve(1);
  writer.finish({
    taskType: 'realname',
    item: { cardId, lane: 'schedule', member, token: '1' },
    verdict: 'done',
    outcome: { cardId, taskType: 'realname', polledAtMs: 1 },
    failure: null,
    retryCapMs: 60_000,
    waitMs: 0,
    ...over,
  });
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

it('settles what needs no write while every batch waits for the record store', async () => {
  let answer: () => void = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  write = () => answered.then(() => ({ staleUsage: [], otherIccid: [] }));
  // Two batches wait for the store, all further ones for them.
  for (const cardId of range(4)) {
    finish(cardId);
    await clock.run(GATHER_MS);
  }
  finish(10, { verdict: 'failed', outcome: null });
  finish(11, { verdict: 'returned', outcome: null });
  finish(12, { outcome: null });
  finish(13, { verdict: 'failed', outcome: null, item: ofTrigger(13) });
  await clock.run(GATHER_MS);
  expect(settled).toEqual([
    [10, 'failed'],
    [11, 'returned'],
    [12, 'done'],
  ]);
  expect(writes).toEqual([[1], [2]]);
  expect(writer.reserved).toBe(5);

  answer();
  await writer.stop();
  expect(settled.map(([cardId]) => cardId).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 10, 11, 12, 13]);
  expect(counted).toEqual([[13, 'failed']]);
});

it('fails the card whose value is refused, and writes the rest of its batch', async () => {
  const bad = new Set([7, 8, 500]);
  const written: number[] = [];
  write = async (outcomes) => {
    if (outcomes.some(({ cardId }) => bad.has(cardId)))
      throw new CardpollError('invalid', 'value_refused', 'no');
    written.push(...outcomes.map(({ cardId }) => cardId));
    return { staleUsage: [], otherIccid: [] };
  };
  for (const cardId of range(1_000)) finish(cardId);
  await writer.stop();
  expect(written.sort((a, b) => a - b)).toEqual(range(1_000).filter((cardId) => !bad.has(cardId)));
  expect(refused).toEqual([7, 8, 500]);
  expect(settled.filter(([, verdict]) => verdict === 'failed').map(([cardId]) => cardId)).toEqual([
    7, 8, 500,
  ]);
  expect(settled).toHaveLength(1_000);
  // Halving finds them: a few writes for each, not one for each card.
  expect(writes.length).toBeLessThan(3 * 2 * Math.ceil(Math.log2(1_000)));
});

it('goes on halving a refused batch after an outage, without writing anything twice', async () => {
  let failures = 0;
  const written: number[] = [];
  write = async (outcomes) => {
    if (outcomes.some(({ cardId }) => cardId === 3))
      throw new CardpollError('invalid', 'value_refused', 'no');
    failures += 1;
    if (failures % 2 === 1) throw new CardpollError('unavailable', 'postgres_unreachable', 'away');
    written.push(...outcomes.map(({ cardId }) => cardId));
    return { staleUsage: [], otherIccid: [] };
  };
  for (const cardId of range(8)) finish(cardId);
  const stopped = writer.stop();
  await clock.run(60_000);
  await stopped;
  expect(written).toEqual([1, 2, 4, 5, 6, 7, 8]);
  expect(refused).toEqual([3]);
});

it('notes why a poll failed before its card may be asked again', async () => {
  const failure = { cardId: 20, reason: 'timeout', message: 'no answer within 200 ms', durationMs: 200 };
  finish(20, { verdict: 'failed', outcome: null, failure });
  finish(21, { verdict: 'failed', outcome: null });
  await clock.run(GATHER_MS);
  expect(settled).toHaveLength(2);
  expect(noted).toEqual([failure]);
  finish(22, { outcome: null });
  await clock.run(GATHER_MS);
  expect(settled).toHaveLength(3);
  expect(notes, 'nothing is noted of a batch in which nothing failed').toBe(1);
});

const ofTrigger = (cardId: number) =>
  ({ cardId, lane: 'manual', member: `${cardId}:t1`, token: '1' }) as const;

it('settles only what is durable: it writes, then counts for the trigger, then settles', async () => {
  finish(1);
  finish(2, { item: ofTrigger(2) });
  await writer.stop();
  expect(events).toEqual(['written 2', 'count 1', 'settle 2 under 60000']);
});

it('counts for a trigger what came of its cards, and writes nothing for those that failed', async () => {
  finish(1, { item: ofTrigger(1) });
  await writer.stop();
  finish(2, { item: ofTrigger(2), verdict: 'failed', outcome: null });
  await writer.stop();
  expect(counted).toEqual([
    [1, 'succeeded'],
    [2, 'failed'],
  ]);
  expect(writes).toEqual([[1]]);
});

it('defers a card that was too early for its trigger, and counts it neither way', async () => {
  finish(1, { item: ofTrigger(1), verdict: 'early', outcome: null, waitMs: 5_000 });
  await writer.stop();
  expect(counted).toEqual([]);
  expect(events).toContain('defer 1 5000');
  expect(settled).toEqual([[1, 'early']]);
});

it('counts a poll for triggers that came too early, too', async () => {
  const alsoFor = ['t8', 't9'];
  finish(1, { alsoFor });
  finish(2, { alsoFor: ['t8'], verdict: 'failed', outcome: null });
  finish(3, { item: ofTrigger(3), alsoFor: ['t8'] });
  await writer.stop();
  expect(counted.sort()).toEqual([
    [1, 'succeeded'],
    [1, 'succeeded'],
    [2, 'failed'],
    [3, 'succeeded'],
    [3, 'succeeded'],
  ]);
});

it('leaves a trigger waiting whose card is polled again, since its value is stale', async () => {
  write = async () => ({ staleUsage: [1], otherIccid: [] });
  const outcome = { cardId: 1, taskType: 'carddata', polledAtMs: 1, usage: {} } as unknown as PollOutcome;
  finish(1, { outcome, alsoFor: ['t8'] });
  await writer.stop();
  expect(settled).toEqual([[1, 'failed']]);
  expect(counted).toEqual([]);
});

it('polls a card again that has another SIM by now, and counts its poll by hand as failed', async () => {
  write = async () => ({ staleUsage: [], otherIccid: [1] });
  finish(1);
  finish(1, { item: ofTrigger(1) });
  finish(2);
  await writer.stop();
  expect(settled.sort()).toEqual([
    [1, 'failed'],
    [1, 'failed'],
    [2, 'done'],
  ]);
  expect(counted).toEqual([[1, 'failed']]);
});

it('counts as failed a card of a trigger whose value is refused', async () => {
  write = () => Promise.reject(new CardpollError('invalid', 'value_refused', 'no'));
  finish(1, { item: ofTrigger(1) });
  await writer.stop();
  expect(refused).toEqual([1]);
  expect(counted).toEqual([[1, 'failed']]);
});

it('counts no card that goes back to its list, and none that no trigger asked for', async () => {
  finish(1, { item: ofTrigger(1), verdict: 'returned', outcome: null });
  finish(2, { item: { ...ofTrigger(2), member: '2' } });
  finish(3, { item: { ...ofTrigger(3), member: '3' }, verdict: 'failed', outcome: null });
  finish(4);
  await writer.stop();
  expect(settled).toHaveLength(4);
  expect(counted).toEqual([]);
  expect(events.filter((what) => what.startsWith('count'))).toEqual([]);
});

it('is as full as it has items that are not settled, and empty when all are', async () => {
  writer.reserve(9_998);
  finish(1);
  expect(writer.room).toBe(1);
  await clock.run(GATHER_MS);
  expect(writer.room).toBe(2);
  writer.reserve(5);
  expect(writer.room, 'more is under way than it has room for').toBe(0);
});

it('tries again for as long as a store is away, in growing pauses, and gives nothing up', async () => {
  let failures = 8;
  settling = () => {
    failures -= 1;
    if (failures >= 0) throw new CardpollError('unavailable', 'redis_unreachable', 'away');
  };
  finish(1, { outcome: null });
  const stopped = writer.stop();
  await clock.run(60_000);
  await stopped;
  const pauses = [50, 100, 200, 400, 800, 1_600, 2_000, 2_000];
  expect(events).toEqual([...pauses.map((ms) => `settle again in ${ms}`), 'settle 1 under 60000']);
});

it('says since when and why the record store takes no results, until it takes one', async () => {
  const full = new CardpollError('unavailable', 'postgres_out_of_resources', 'the disk is full');
  write = () => Promise.reject(full);
  finish(1);
  await clock.run(GATHER_MS + 4_000);
  expect(writer.outage, 'most restarts of a store are shorter').toBeNull();
  await clock.run(2_000);
  expect(writer.outage).toEqual({ lastsMs: 6_000, reason: 'the disk is full' });
  write = async () => ({ staleUsage: [], otherIccid: [] });
  await clock.run(2_000);
  expect(settled).toEqual([[1, 'done']]);
  expect(writer.outage).toBeNull();
});

it('does not blame the record store while only the live store refuses', async () => {
  settling = () => {
    throw new CardpollError('unavailable', 'redis_unreachable', 'away');
  };
  finish(1, { outcome: null });
  await clock.run(60_000);
  expect(writer.outage).toBeNull();
});

it('reports at which stage a store is unavailable', async () => {
  let step = 0;
  const away = () => {
    step += 1;
    // Each stage fails once and works when it is tried again.
    if (step % 2 === 1) throw new CardpollError('unavailable', 'x', 'away');
  };
  write = async () => {
    away();
    return { staleUsage: [], otherIccid: [] };
  };
  settling = away;
  finish(1, { item: ofTrigger(1) });
  const stopped = writer.stop();
  await clock.run(60_000);
  await stopped;
  expect(events).toEqual([
    'write again in 50',
    'settle again in 50',
    'written 1',
    'count again in 50',
    'count 1',
    'settle again in 50',
    'settle 1 under 60000',
  ]);
  expect(counted, 'once, however often it was tried').toEqual([[1, 'succeeded']]);
});

it('ends at once when it is abandoned, and sends nothing any more', async () => {
  write = () => Promise.reject(new CardpollError('unavailable', 'postgres_unreachable', 'away'));
  finish(1);
  const stopped = writer.stop();
  await clock.run(60_000);
  writer.abandon();
  await stopped;
  finish(2, { outcome: null });
  const before = writes.length;
  await clock.run(60_000);
  expect(writes).toHaveLength(before);
  expect(settled).toEqual([]);
  await writer.stop();
});

it('has a card polled again whose usage another worker wrote first, unless an operator asked for it', async () => {
  write = async (outcomes) => ({ staleUsage: outcomes.map(({ cardId }) => cardId), otherIccid: [] });
  const outcome = (cardId: number) =>
    ({ cardId, taskType: 'carddata', polledAtMs: 1, usage: {} }) as unknown as PollOutcome;
  finish(1, { outcome: outcome(1) });
  finish(2, { outcome: outcome(2), item: ofTrigger(2) });
  finish(3);
  await writer.stop();
  expect(settled.sort()).toEqual([
    [1, 'failed'],
    [2, 'done'],
    [3, 'done'],
  ]);
});

it('settles each card with the backoff of its own config, and reports fenced cards', async () => {
  fenced = 1;
  finish(1, { verdict: 'failed', outcome: null, retryCapMs: 0 });
  finish(2, { verdict: 'failed', outcome: null });
  finish(3, { verdict: 'failed', outcome: null });
  await writer.stop();
  expect(events.sort()).toEqual([
    '1 of realname fenced',
    '1 of realname fenced',
    'settle 1 under 0',
    'settle 2 under 60000',
  ]);
  expect(metered.map((one) => one.join()).sort()).toEqual(['realname,failed failed,1', 'realname,failed,1']);
});

it('prolongs the leases of results that wait for the record store, before they end, and settles with the new token', async () => {
  const prolonged: Array<readonly [number, number]> = [];
  renew = (items, byMs) => {
    for (const { cardId } of items) prolonged.push([cardId, clock.monotonic()]);
    return items.map((item) => renewed(item, byMs));
  };
  let isAway = true;
  write = async () => {
    if (isAway) throw new Error('connection refused');
    return { staleUsage: [], otherIccid: [] };
  };
  // The call ends when half of the lease is over.
  await clock.run(LEASE_MS / 2);
  finish(1);
  await clock.run(4 * LEASE_MS);
  finish(2, { verdict: 'failed', outcome: null });
  expect(prolonged.length).toBeGreaterThanOrEqual(3);
  for (const [i, [cardId, at]] of prolonged.entries()) {
    expect(cardId).toBe(1);
    const endsAt = (i + 1) * LEASE_MS;
    expect(at).toBeLessThan(endsAt);
    // A worker that dies keeps its cards for less than two leases.
    expect(at).toBeGreaterThan(endsAt - LEASE_MS);
  }
  isAway = false;
  await clock.run(4_000);
  expect(settled).toEqual([
    [2, 'failed'],
    [1, 'done'],
  ]);
  expect(settledTokens).toEqual(['1', String(1 + prolonged.length * LEASE_MS)]);
  const before = prolonged.length;
  await clock.run(4 * LEASE_MS);
  expect(prolonged).toHaveLength(before);
});

it('settles with the token that is in force when the answer to the last prolongation was lost', async () => {
  let isAway = true;
  write = async () => {
    if (isAway) throw new Error('connection refused');
    return { staleUsage: [], otherIccid: [] };
  };
  let lost = 0;
  renew = (items, byMs) => {
    lost += 1;
    if (lost < 100 && isAway) throw new Error('no answer');
    return items.map((item) => renewed(item, byMs));
  };
  finish(1);
  await clock.run(LEASE_MS / 2);
  expect(lost).toBeGreaterThan(0);
  expect(events.some((event) => event.startsWith('renew again in'))).toBe(true);
  isAway = false;
  await clock.run(4_000);
  expect(settledTokens).toEqual([String(1 + LEASE_MS)]);
});
