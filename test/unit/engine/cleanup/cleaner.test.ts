// When scheduled cleanups are due, when the cleaner begins a run, how long it rests between steps, what it logs about a run,
// and when it gives up a target: never for an outage, at once for what waiting does not cure. The records are a fake with
// scripted steps; what steps do is proven in contract/record-store/cleanup.test.ts.
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { Cleaner } from '../../../../src/engine/cleanup/cleaner.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { AuditTrail } from '../../../../src/store/ports/records/audit-trail.ts';
import type {
  CleanupItem,
  CleanupRecords,
  CleanupRun,
  CleanupStep,
} from '../../../../src/store/ports/records/cleanup-records.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const UNREACHABLE = new CardpollError('unavailable', 'postgres_unreachable', 'away');
const TIMEOUT = new CardpollError('unavailable', 'postgres_timeout', 'a lock is held');

const PLAN: Awaited<ReturnType<CleanupRecords['plan']>> = { items: [] } as never;
const PAUSE_MS = 10;

let clock: FakeClock;
let logged: Array<Record<string, unknown>>;
/** Scheduled runs that were begun, with what the trail keeps of each. */
let begun: Array<{ dueMs: number | null; notes: AuditChange[] }>;
/** Whether the records let a run begin. */
let free: boolean;
let fence: number | null;
let step: () => Promise<CleanupStep>;
let plan: CleanupRecords['plan'];
/** The record store's clock minus that of this machine. */
let recordsAheadMs: number;
let skipped: string[];
let cleaner: Cleaner;

beforeEach(() => {
  clock = new FakeClock();
  [logged, begun, skipped, free, fence, recordsAheadMs] = [[], [], [], true, 1, 0];
  step = async () => ({ state: 'idle' });
  plan = async () => PLAN;
  cleaner = cleanerBy('off');
});

/** @param schedule when runs begin by themselves */
function cleanerBy(schedule: string, pauseMs = PAUSE_MS, timeZone = 'UTC'): Cleaner {
  const cleanup: Partial<CleanupRecords> = {
    step: () => step(),
    skipTarget: async (reason) => void skipped.push(reason),
    plan: (at) => plan(at),
  };
  const change: AuditTrail['change'] = (_actor, work) => {
    const notes: AuditChange[] = [];
    const begin: CleanupRecords['begin'] = async (_runId, _plan, dueMs) => {
      if (free) begun.push({ dueMs, notes });
      return free;
    };
    return work({ cleanup: { begin } } as unknown as RecordStore, (note) => void notes.push(note));
  };
  return new Cleaner({
    cleanup: cleanup as CleanupRecords,
    records: { now: async () => clock.now() + recordsAheadMs },
    audit: { change },
    schedule,
    changeMark: async () => null,
    calendar: new MonthCalendar(timeZone),
    fence: () => fence,
    clock,
    pauseMs,
    log: pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
}

const failing = (error: unknown) => async (): Promise<never> => {
  throw error;
};

it('waits for a store that is away, as long as it takes', async () => {
  step = failing(UNREACHABLE);
  for (let pass = 0; pass < 50; pass += 1) await expect(cleaner.runOnce()).rejects.toBe(UNREACHABLE);
  expect(skipped).toEqual([]);
});

it('gives a target up after fifteen timeouts in a row', async () => {
  const timeouts = async (count: number) => {
    step = failing(TIMEOUT);
    for (let pass = 0; pass < count; pass += 1) await expect(cleaner.runOnce()).rejects.toBe(TIMEOUT);
  };
  await timeouts(14);
  step = async () => ({ state: 'going', deleted: 5 });
  await cleaner.runOnce();
  await timeouts(14);
  expect(skipped).toEqual([]);
  await cleaner.runOnce();
  expect(skipped).toEqual(['a lock is held']);
  await timeouts(14);
});

it.each([
  ['a refusal of the store', new CardpollError('invalid', 'value_refused', 'no such column')],
  ['a bug', new TypeError('no such column')],
])('gives a target up at once for %s', async (_, error) => {
  step = failing(error);
  await cleaner.runOnce();
  expect(skipped).toEqual(['no such column']);
});

it('takes no step while another instance leads', async () => {
  fence = null;
  let steps = 0;
  step = async () => {
    steps += 1;
    return { state: 'idle' };
  };
  expect(await cleaner.runOnce()).toBeGreaterThan(0);
  expect(steps).toBe(0);
});

it('begins a run when one is due, once, and writes it into the trail', async () => {
  cleaner = cleanerBy('10 * * * *');
  await cleaner.runOnce();
  clock.advance(10 * 60_000);
  const dueMs = clock.now();
  clock.advance(700);
  await cleaner.runOnce();
  await cleaner.runOnce();
  expect(begun).toEqual([{ dueMs, notes: [expect.objectContaining({ action: 'cleanup.begin' })] }]);
  expect(logged).toEqual([]);
});

it('leaves it at one run where one is under way or another instance was faster', async () => {
  cleaner = cleanerBy('10 * * * *');
  clock.advance(10 * 60_000);
  free = false;
  await cleaner.runOnce();
  free = true;
  await cleaner.runOnce();
  expect(begun).toEqual([]);
  expect(logged).toEqual([expect.objectContaining({ scheduled_for: '2026-11-01T00:10:00.000Z' })]);
});

it('rests between two batches, longer where they take long, and not where nothing is left or none is wanted', async () => {
  const batch = (tookMs: number, deleted: number) => async (): Promise<CleanupStep> => {
    clock.advance(tookMs);
    return { state: 'going', deleted };
  };
  clock.advance(5_000);
  step = batch(2, 100);
  expect(await cleaner.runOnce()).toBe(PAUSE_MS);
  step = batch(50, 100);
  expect(await cleaner.runOnce()).toBe(200);
  step = batch(50, 0);
  expect(await cleaner.runOnce()).toBe(0);
  step = batch(50, 100);
  expect(await cleanerBy('off', 0).runOnce()).toBe(0);
  step = async () => ({ state: 'idle' });
  expect(await cleaner.runOnce()).toBe(500);
});

it('logs what a run removed, and its failures as an error', async () => {
  const item = (target: string, deleted: number, error: string | null) =>
    ({ target, deleted, error }) as CleanupItem;
  const run: CleanupRun = {
    ...{ runId: 'r', status: 'completed', batches: 3, startedAtMs: 1_000, finishedAtMs: 4_500 },
    items: [item('alerts', 7, null), item('audit', 5, null)],
  };
  step = async () => ({ state: 'finished', run });
  expect(await cleaner.runOnce()).toBe(0);
  const items = [item('alerts', 7, null), item('audit', 0, 'a lock is held')];
  step = async () => ({ state: 'finished', run: { ...run, status: 'failed', items } });
  await cleaner.runOnce();
  const expected = { run_id: 'r', batches: 3, duration_ms: 3_500 };
  expect(logged).toEqual([
    expect.objectContaining({
      ...{ ...expected, level: 30, status: 'completed', deleted: 12, by_target: { alerts: 7, audit: 5 } },
    }),
    expect.objectContaining({
      ...{ ...expected, level: 50, status: 'failed', errors: { audit: 'a lock is held' } },
    }),
  ]);
  expect(logged[0]).not.toHaveProperty('errors');
});

describe('a scheduled cleanup', () => {
  const at = (time: string) => `2026-11-21T${time}+08:00`;
  const lookAt = async (...times: string[]) => {
    for (const time of times) {
      clock.set(at(time));
      await cleaner.runOnce();
    }
    return begun.map(({ dueMs }) => dueMs);
  };

  const passMinutes = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await cleaner.runOnce();
      clock.advance(60_000);
    }
  };

  beforeEach(() => {
    clock.set(at('03:00:00'));
    cleaner = cleanerBy('30 3 * * *', PAUSE_MS, 'Asia/Shanghai');
  });

  it('begins at its time in its zone, once a day', async () => {
    expect(await lookAt('03:29:59')).toEqual([]);
    const first = Date.parse(at('03:30:00'));
    expect(await lookAt('03:40:00', '03:40:01', '23:59:59')).toEqual([first]);
    clock.advance(4 * 3_600_000);
    await cleaner.runOnce();
    expect(begun.map(({ dueMs }) => dueMs)).toEqual([first, first + 86_400_000]);
  });

  it('does not make up for what passed before the start', async () => {
    clock.set(at('03:30:00'));
    cleaner = cleanerBy('30 3 * * *', PAUSE_MS, 'Asia/Shanghai');
    expect(await lookAt('12:00:00')).toEqual([]);
  });

  it('stays due until the record store lets it begin', async () => {
    plan = failing(UNREACHABLE);
    await expect(lookAt('03:30:01')).rejects.toBe(UNREACHABLE);
    plan = async () => PLAN;
    expect(await lookAt('03:50:00')).toEqual([Date.parse(at('03:30:00'))]);
  });

  it.each([
    ['03:30:30', true],
    ['03:31:01', false],
  ])(
    'a scheduled cleanup that became due while another instance led until %s begins: %j',
    async (until, isBegun) => {
      fence = null;
      await lookAt(until);
      fence = 1;
      expect(await lookAt('03:31:02')).toEqual(isBegun ? [Date.parse(at('03:30:00'))] : []);
    },
  );

  it('waits for the clock of the record store where this machine is ahead of it', async () => {
    const days: number[] = [];
    plan = async ({ nowMs }) => {
      days.push(nowMs);
      return PLAN;
    };
    recordsAheadMs = -40 * 86_400_000;
    expect(await lookAt('03:30:01', '12:00:00')).toEqual([]);
    recordsAheadMs = -60_000;
    expect(await lookAt('12:00:01')).toEqual([Date.parse(at('03:30:00'))]);
    expect(days).toEqual([Date.parse(at('11:59:01'))]);
  });

  it('expires data by the clock of this machine where the record store is ahead of it', async () => {
    const days: number[] = [];
    plan = async ({ nowMs }) => {
      days.push(nowMs);
      return PLAN;
    };
    recordsAheadMs = 400 * 86_400_000;
    await lookAt('03:30:01');
    expect(days).toEqual([Date.parse(at('03:30:01'))]);
  });

  it.each([1, null])('begins after the clock was ahead for a while (fence %j)', async (held) => {
    recordsAheadMs = -30 * 86_400_000;
    fence = held;
    clock.set(Date.parse(at('03:20:00')) - recordsAheadMs);
    await cleaner.runOnce();
    recordsAheadMs = 0;
    expect(await lookAt('03:20:01')).toEqual([]);
    fence = 1;
    expect(await lookAt('03:30:01')).toEqual([Date.parse(at('03:30:00'))]);
  });

  it('begins once in a night with an hour that comes twice, also for a leader of the second one', async () => {
    clock.set('2026-11-01T06:10:00Z'); // 01:10, the second time
    cleaner = cleanerBy('30 1 * * *', PAUSE_MS, 'America/New_York');
    await passMinutes(60);
    expect(begun).toEqual([]);
    clock.set('2026-11-02T06:31:00Z');
    await cleaner.runOnce();
    expect(begun.map(({ dueMs }) => dueMs)).toEqual([Date.parse('2026-11-02T06:30:00Z')]);
  });

  it.each([
    ['30 2 * * *', 'Europe/Berlin', '2027-03-28T00:00:00Z', '2027-03-28T01:00:00Z'],
    ['0 2 * * *', 'America/New_York', '2027-03-14T05:00:00Z', '2027-03-14T07:00:00Z'],
    ['15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T14:00:00Z', '2027-10-02T15:30:00Z'],
  ])('begins when the clocks skip its time: %s in %s', async (schedule, zone, from, expected) => {
    clock.set(from);
    cleaner = cleanerBy(schedule, PAUSE_MS, zone);
    await passMinutes(4 * 60);
    expect(begun.map(({ dueMs }) => dueMs)).toEqual([Date.parse(expected)]);
  });

  it.each([
    ['Europe/Berlin', '2027-10-30T23:30:00Z'],
    ['America/New_York', '2027-11-07T04:30:00Z'],
  ])('begins in both hours of the same name when it runs every hour in %s', async (zone, from) => {
    clock.set(from);
    cleaner = cleanerBy('0 * * * *', PAUSE_MS, zone);
    await passMinutes(4 * 60);
    const hours = [0.5, 1.5, 2.5, 3.5].map((hour) => Date.parse(from) + hour * 3_600_000);
    expect(begun.map(({ dueMs }) => dueMs)).toEqual(hours);
  });

  it('never begins when it is off', async () => {
    cleaner = cleanerBy('off');
    expect(await lookAt('03:30:00', '03:31:00')).toEqual([]);
  });
});
