// What the writer does while the record store refuses, or does not answer. The stores are stand-ins: what is proven here
// is who waits for whom. With real ones: contract/record-store/refused-results.test.ts.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PollOutcome } from '../../../src/domain/poll-outcome.ts';
import { type FinishedItem, ResultWriter } from '../../../src/engine/result-writer.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import type { FailureNote } from '../../../src/store/ports/failure-log.ts';
import type { Settlement } from '../../../src/store/ports/work-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const GATHER_MS = 50;

let clock: FakeClock;
let writer: ResultWriter;
let write: (outcomes: readonly PollOutcome[]) => Promise<{ staleUsage: readonly number[] }>;
let writes: Array<readonly number[]>;
let counted: number[];
let settled: Array<[number, Settlement['verdict']]>;
let refused: number[];
let noted: FailureNote[];

beforeEach(() => {
  [writes, counted, settled, refused, noted] = [[], [], [], [], []];
  write = async () => ({ staleUsage: [] });
  clock = new FakeClock();
  writer = new ResultWriter({
    work: {
      settle: async (_, settlements) => {
        for (const { item, verdict } of settlements) settled.push([item.cardId, verdict]);
        return { fenced: 0 };
      },
    },
    failures: { note: async (_, failures) => void noted.push(...failures) },
    results: {
      write: (outcomes) => {
        writes.push(outcomes.map(({ cardId }) => cardId));
        return write(outcomes);
      },
    },
    triggers: { count: async (results) => void counted.push(...results.map(({ cardId }) => cardId)) },
    onWritten: async () => {},
    onRefused: ({ cardId }) => void refused.push(cardId),
    onFenced: () => {},
    onError: () => {},
    clock,
    random: () => 0,
    capacity: 10_000,
    retryBaseMs: 1_000,
  });
});
afterEach(() => writer.abandon());

function finish(cardId: number, over: Partial<FinishedItem> = {}): void {
  const member = String(cardId);
  writer.reserve(1);
  writer.finish({
    taskType: 'realname',
    item: { cardId, lane: 'schedule', member, token: '1', failing: false },
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
  write = () => answered.then(() => ({ staleUsage: [] }));
  // Two batches wait for the store, all further ones for them.
  for (const cardId of range(4)) {
    finish(cardId);
    await clock.run(GATHER_MS);
  }
  finish(10, { verdict: 'failed', outcome: null });
  finish(11, { verdict: 'returned', outcome: null });
  finish(12, { outcome: null });
  const ofTrigger = { cardId: 13, lane: 'manual', member: '13:t1', token: '1', failing: false } as const;
  finish(13, { verdict: 'failed', outcome: null, item: ofTrigger });
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
  expect(counted).toEqual([13]);
});

it('fails the card whose value is refused, and writes the rest of its batch', async () => {
  const bad = new Set([7, 8, 500]);
  const written: number[] = [];
  write = async (outcomes) => {
    if (outcomes.some(({ cardId }) => bad.has(cardId)))
      throw new CardpollError('invalid', 'value_refused', 'no');
    written.push(...outcomes.map(({ cardId }) => cardId));
    return { staleUsage: [] };
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
    return { staleUsage: [] };
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
});
