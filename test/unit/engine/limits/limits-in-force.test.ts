// One look of the leader at a time, on the embedded store: what it puts into force, and what it says about it.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import type { RecordedLimits } from '../../../../src/domain/limits/in-force.ts';
import { perTaskType, type TaskType } from '../../../../src/domain/task-type.ts';
import { LimitsInForce } from '../../../../src/engine/limits/limits-in-force.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import { bringIntoForce } from '../../../../src/store/ports/in-force.ts';
import type { WorkQueue } from '../../../../src/store/ports/live/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { pauseByOperator, setLimit } from '../../../support/limits.ts';

const clock = new FakeClock('2026-11-01T00:00:00Z');
let live: { work: WorkQueue };
let record: Record<TaskType, RecordedLimits>;
let said: unknown[];
let notes: AuditChange[];
let service: LimitsInForce;
let fence: number | null;
let recordsAway: boolean;

beforeEach(() => {
  live = { work: openEmbeddedLiveStore({ clock }).work };
  record = perTaskType(() => ({ maxConcurrency: 100, pause: null }));
  [said, notes, fence, recordsAway] = [[], [], 1, false];
  service = new LimitsInForce({
    live: {
      work: {
        inForce: (type) => live.work.inForce(type),
        putInForce: (...args) => live.work.putInForce(...args),
      },
    },
    records: {
      configs: {
        recordedLimits: async () => {
          if (recordsAway) throw new Error('away');
          return { ...record };
        },
      },
    },
    ceiling: null,
    fence: () => fence,
    clock,
    log: pino({ base: null }, { write: (line: string) => said.push(JSON.parse(line).msg) }),
    digest: { note: (change) => notes.push(change) },
    onError: (error) => expect.unreachable(String(error)),
  });
});

/** The leader's looks at a new life of the store, until all is in force. */
const begin = async () => {
  await service.runOnce();
  clock.advance(1_500);
  return service.runOnce();
};
const lose = () => {
  live.work = openEmbeddedLiveStore({ clock }).work;
};
const limits = async () =>
  Promise.all((['realname', 'carddata', 'package'] as const).map((type) => live.work.counts(type)));
const set = (taskType: TaskType, change: Partial<RecordedLimits>) => {
  record[taskType] = { ...record[taskType], ...change };
};

it('puts all of record in at the begin, on the leader, and looks again at once', async () => {
  set('carddata', {
    maxConcurrency: 5,
    pause: { id: '1', lastsMs: 600_000, leftMs: 60_000, reason: 'r', by: 'ann' },
  });
  fence = null;
  await service.runOnce();
  expect((await limits()).map(({ inForce }) => inForce)).toEqual([false, false, false]);
  fence = 1;
  expect(await begin()).toBe(100);
  expect(await limits()).toMatchObject([
    { inForce: true, maxConcurrency: 100 },
    { inForce: true, maxConcurrency: 5 },
    { inForce: true, maxConcurrency: 100 },
  ]);
  expect(await live.work.pauses()).toMatchObject([{ taskType: 'carddata', id: '1', by: 'ann' }]);
  expect(await service.runOnce(), 'then every second').toBe(1_000);
  expect(
    notes.map(({ action }) => action),
    'a pause that the live store did not have',
  ).toEqual(['pause.put_back']);
});

it('puts nothing in while the records do not answer', async () => {
  recordsAway = true;
  await expect(service.runOnce()).rejects.toThrow('away');
  expect((await limits()).map(({ inForce }) => inForce)).toEqual([false, false, false]);
});

it('gives workers 1.5 s to hold the slots of calls in flight, and the same once more after another loss', async () => {
  const inForce = async () => (await limits()).map((one) => one.inForce);
  await service.runOnce();
  clock.advance(1_400);
  expect(await service.runOnce()).toBe(100);
  lose();
  await service.runOnce();
  clock.advance(1_400);
  await service.runOnce();
  expect(await inForce()).toEqual([false, false, false]);
  clock.advance(100);
  await service.runOnce();
  expect(await inForce()).toEqual([true, true, true]);
});

it('puts back a limit and a pause that the live store has as they were before, and says so for ten minutes', async () => {
  set('carddata', { maxConcurrency: 5 });
  await begin();
  await service.runOnce();
  said.length = 0;
  await setLimit(live.work, 'carddata', 40);
  await pauseByOperator(live.work, 'package', { ms: 3_600_000, reason: 'r', by: 'ann' });
  await service.runOnce();
  expect((await limits())[1]).toMatchObject({ maxConcurrency: 5 });
  expect(await live.work.pauses()).toEqual([]);
  const texts = [
    'the limit of carddata was 40 in Redis and is 5 again',
    'the ended pause of package was back in Redis and is ended again',
  ];
  expect(said).toEqual(texts);
  expect(notes).toMatchObject([
    {
      action: 'limit.put_back',
      object: 'task_type carddata',
      before: { maxConcurrency: 40 },
      after: { maxConcurrency: 5 },
    },
    { action: 'pause.put_back', object: 'task_type package' },
  ]);
  expect(service.putBack.map(({ text }) => text)).toEqual(texts.toReversed());
  clock.advance(600_001);
  expect(service.putBack).toEqual([]);
});

it('puts back what was lost with all data', async () => {
  await begin();
  set('realname', { pause: { id: '1', lastsMs: 600_000, leftMs: 60_000, reason: 'r', by: 'ann' } });
  await bringIntoForce({ live, records: { configs: { recordedLimits: async () => record } } }, ['realname']);
  await service.runOnce();
  expect(notes, 'an operator did it').toEqual([]);
  lose();
  await begin();
  expect(await live.work.pauses()).toMatchObject([{ taskType: 'realname', id: '1' }]);
  expect(notes).toMatchObject([{ action: 'pause.put_back', after: { paused: true, by: 'ann' } }]);
});

it('brings an order into force whose operator has yet to do so, and calls it no repair', async () => {
  await begin();
  await service.runOnce();
  set('carddata', { maxConcurrency: 7 });
  await service.runOnce();
  expect((await limits())[1]).toMatchObject({ maxConcurrency: 7 });
  expect(notes).toEqual([]);
});

it('calls an order no repair that a live store which refused writes takes later', async () => {
  await begin();
  await service.runOnce();
  const { putInForce } = live.work;
  set('carddata', { maxConcurrency: 7 });
  live.work.putInForce = () => Promise.reject(new Error('NOREPLICAS'));
  for (let look = 0; look < 3; look += 1) await expect(service.runOnce()).rejects.toThrow('NOREPLICAS');
  live.work.putInForce = putInForce;
  await service.runOnce();
  expect((await limits())[1]).toMatchObject({ maxConcurrency: 7 });
  expect(notes).toEqual([]);
});

it('leaves what an operator sets between its two looks', async () => {
  await begin();
  const { putInForce } = live.work;
  set('carddata', { maxConcurrency: 5 });
  live.work.putInForce = async (...args) => {
    live.work.putInForce = putInForce;
    // The operator's order is of record, and in force.
    set('carddata', { maxConcurrency: 9 });
    await setLimit(live.work, 'carddata', 9);
    return live.work.putInForce(...args);
  };
  await service.runOnce();
  expect((await limits())[1]).toMatchObject({ maxConcurrency: 9 });
  await service.runOnce();
  expect((await limits())[1]).toMatchObject({ maxConcurrency: 9 });
});
