// When the claimed cards of a worker get their calls, and how many it claims ahead. Grants are scripted; which ones the store makes
// is tested in test/contract/live-store/pace.test.ts.
import { beforeEach, expect, it } from 'vitest';
import { PollPace } from '../../../../src/engine/work/poll-pace.ts';
import { Deadline } from '../../../../src/engine/work/task.ts';
import type { WorkItem } from '../../../../src/store/ports/live/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LIFE_MS = 300;

let clock: FakeClock;
let pace: PollPace;
/** What is granted at each question; then nothing. */
let grants: Array<{ calls: number; lateMs?: number } | Error>;
let asked: number[];
let givenBack: number;
let claims: number;
let errors: unknown[];
let ready: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  [grants, asked, errors, givenBack, claims] = [[], [], [], 0, 0];
  ready = Promise.resolve();
  pace = paceOf(1);
});

function paceOf(cardsPerCall: number): PollPace {
  return new PollPace({
    cardsPerCall,
    ready: () => ready,
    taskType: 'realname',
    interfaceName: 'realname',
    pace: {
      take: async (_, __, wanted) => {
        const expiresAt = clock.monotonic() + LIFE_MS;
        const next = grants.shift() ?? { calls: 0 };
        asked.push(wanted);
        if (next instanceof Error) throw next;
        clock.advance(next.lateMs ?? 0);
        const giveBack = async (unused: number) => {
          givenBack += unused;
        };
        return { calls: next.calls, waitMs: next.calls >= wanted ? 0 : 100, expiresAt, giveBack };
      },
    },
    clock,
    onGranted: () => {
      claims += 1;
    },
    onError: (error) => errors.push(error),
  });
}

const items = (count: number) =>
  Array.from(
    { length: count },
    (_, i): WorkItem => ({ cardId: i, lane: 'schedule', member: `${i}`, token: 't' }),
  );

function waitFor(count: number, leaseMs = 15_000): Promise<boolean[]> {
  const claimed = items(count);
  pace.claimed(claimed);
  const deadline = new Deadline(clock, clock.monotonic(), leaseMs, 0);
  return Promise.all(claimed.map((item) => pace.turn(item, deadline)));
}

it('lets as many cards be called as were granted, in order, and asks again for the others', async () => {
  grants = [{ calls: 2 }, { calls: 0 }, { calls: 1 }];
  const turns = waitFor(3);
  await clock.run(1);
  expect(pace.isShort).toBe(true);
  await clock.run(1_000);
  expect(await turns).toEqual([true, true, true]);
  expect(asked).toEqual([3, 1, 1]);
  expect([claims, pace.isShort]).toEqual([2, false]);
});

it('claims more ahead while all calls are granted, and as many as were granted lately when they are short', async () => {
  expect(pace.room).toBe(1);
  grants = [{ calls: 1 }];
  await waitFor(1);
  expect(pace.room).toBe(2);
  grants = [{ calls: 2 }];
  await waitFor(2);
  expect(pace.room).toBe(4);
  grants = [{ calls: 1 }];
  const short = waitFor(4);
  await clock.run(1);
  expect(pace.room, 'four were granted, three wait').toBe(1);
  await clock.run(2_000);
  expect(await short).toEqual([true, false, false, false]);
  expect(pace.room).toBe(1);
});

it('returns a card after a second, or a quarter of its time', async () => {
  const long = waitFor(1);
  await clock.run(900);
  expect(pace.isShort).toBe(true);
  await clock.run(200);
  expect(await long).toEqual([false]);
  const brief = waitFor(1, 800);
  await clock.run(250);
  expect(await brief).toEqual([false]);
});

it('uses no grant that comes too late, and gives it back', async () => {
  grants = [{ calls: 1, lateMs: LIFE_MS + 1 }, { calls: 1 }];
  const turns = waitFor(1);
  await clock.run(500);
  expect(await turns).toEqual([true]);
  expect([asked, givenBack]).toEqual([[1, 1], 1]);
});

it('asks for no call while there is no token, and returns a card after a second all the same', async () => {
  let issue = () => {};
  ready = new Promise((resolve) => {
    issue = resolve;
  });
  const late = waitFor(1);
  await clock.run(1_300);
  expect(await late).toEqual([false]);
  grants = [{ calls: 1 }];
  const turns = waitFor(1);
  await clock.run(500);
  expect(asked).toEqual([]);
  issue();
  await clock.run(500);
  expect(await turns).toEqual([true]);
});

it('returns all cards when the store does not answer, and when the worker stops', async () => {
  grants = [new Error('no answer')];
  expect(await waitFor(2)).toEqual([false, false]);
  expect(errors).toHaveLength(1);
  const turns = waitFor(1);
  await clock.run(1);
  pace.stop();
  expect(await turns).toEqual([false]);
  expect(pace.room).toBe(1);
});

it('forgets a card that ended without a call', () => {
  const [item] = items(1);
  if (item === undefined) throw new Error('no item');
  pace.claimed([item]);
  expect(pace.room).toBe(0);
  pace.ended(item);
  expect(pace.room).toBe(1);
});

it('asks for one call for many cards, and claims as many as fit into what is granted', async () => {
  pace = paceOf(100);
  expect(pace.room).toBe(100);
  grants = [{ calls: 1 }, { calls: 2 }];
  const ends = waitFor(150);
  await clock.run(1_000);
  expect(await ends).toEqual(Array(150).fill(true));
  expect(asked).toEqual([2, 1]);
  expect([givenBack, pace.room]).toEqual([1, 400]);
});
