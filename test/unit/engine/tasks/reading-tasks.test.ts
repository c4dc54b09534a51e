// What a poll of each task finds, writes and logs, with answers and records as the test wants them. The package task on a
// real gateway, database and cache: test/integration/engine/orders/order-calls.test.ts.
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/domain/audit.ts';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { UsageMonth } from '../../../../src/domain/cards/usage-month.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import { makeTask } from '../../../../src/engine/tasks/reading-tasks.ts';
import { Deadline, type TaskResult } from '../../../../src/engine/work/task.ts';
import type { Gateway } from '../../../../src/gateway/gateway.ts';
import { card } from '../../../support/cards.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ONE_CARD_A_CALL } from '../../../support/one-card-calls.ts';

const NOW = '2026-11-15T08:00:00+08:00';
const NOW_MS = Date.parse(NOW);
const LEASE_MS = 15_000;
const USAGE: UsageMonth = {
  month: '2026-11',
  usedMb: 11,
  lastReadingMb: 11,
  suspectedMb: null,
  jump: null,
  readAtMs: NOW_MS - 1,
};
/** One that used 11 of 10 MB. */
const CARD = card(7, { iccid: '89860000000000000007', allowanceMb: 10, usage: USAGE });
const SAME = { card_id: 7, iccid: CARD.iccid };

let clock: FakeClock;
let answers: Partial<Record<InterfaceName, unknown>>;
/** The entry of the trail that the records make of a stop; null: none was under way. */
let entry: AuditEntry | null;
let called: Array<[InterfaceName, number]>;
let entries: AuditEntry[];
/** What was asked of the stop records and of the cache, in order. */
let asked: unknown[][];
let logged: Array<Record<string, unknown>>;

beforeEach(() => {
  clock = new FakeClock(NOW_MS);
  answers = { card_status: 'active', stop: null };
  entry = { action: 'card.stop', after: { used_mb: 12, allowance_mb: 9 } } as unknown as AuditEntry;
  [called, entries, asked, logged] = [[], [], [], []];
});

const gateway: Gateway = {
  ...ONE_CARD_A_CALL,
  call: async (name, _card, timeoutMs) => {
    called.push([name, timeoutMs]);
    const value = answers[name];
    if (value instanceof Error) throw value;
    return { value: (typeof value === 'function' ? value() : value) as string, durationMs: 1 };
  },
  isStoppedStatus: (status) => status === 'stopped',
};

function poll(taskType: TaskType, differing: Partial<Card> = {}): Promise<TaskResult> {
  const task = makeTask(taskType, {
    gateway,
    records: {
      stops: {
        complete: async ({ cardId, iccid }, month) => {
          asked.push(['complete', cardId, iccid, month]);
          return entry;
        },
      },
    },
    audit: { log: (one) => void entries.push(one) },
    calendar: new MonthCalendar('Asia/Shanghai'),
    maxMbitPerSecond: 150,
    meter: { implausibleReading: () => void asked.push(['implausible']) },
    log: pino({ base: null, timestamp: false }, { write: (line: string) => logged.push(JSON.parse(line)) }),
  });
  return task.poll({ ...CARD, ...differing }, new Deadline(clock, clock.monotonic(), LEASE_MS, NOW_MS));
}

const polled = (taskType: TaskType) => ({
  cardId: 7,
  iccid: '89860000000000000007',
  taskType,
  polledAtMs: NOW_MS,
});

it.each(TASK_TYPES)('%s calls within half the lease', async (taskType) => {
  answers = { realname: true, flow: 5, card_status: 'stopped' };
  await poll(taskType);
  expect(called).toHaveLength(1);
  expect(called[0]?.[1]).toBe(LEASE_MS / 2);
});

describe('realname', () => {
  it.each([
    [true, false, { realNameVerified: true }],
    [false, true, { realNameVerified: false }],
    [true, true, {}],
    [false, false, {}],
  ])('answered with %s writes down what is new where %s was known', async (value, realNameVerified, news) => {
    answers = { realname: value };
    expect(await poll('realname', { realNameVerified })).toEqual({
      outcome: { ...polled('realname'), ...news },
      fields: { real_name_verified: value },
    });
  });
});

describe('carddata', () => {
  it('folds a reading into the month of the instant it was asked for', async () => {
    answers = {
      flow: () => {
        clock.advance(1_000);
        return 15;
      },
    };
    expect(await poll('carddata')).toEqual({
      outcome: {
        ...polled('carddata'),
        usage: {
          next: { ...USAGE, usedMb: 15, lastReadingMb: 15, readAtMs: NOW_MS },
          basedOnReadAtMs: USAGE.readAtMs,
        },
        overPackage: true,
      },
      fields: { used_mb_month: 15, usage_month: '2026-11', changed: true },
      usageMbPerHour: 14_400,
      counter: 'counts',
    });
  });

  it('does not count a reading that no card can transfer, and says why', async () => {
    answers = { flow: 11_264 };
    const usage = { ...USAGE, readAtMs: NOW_MS - 60_000 };
    expect(await poll('carddata', { usage })).toEqual({
      outcome: polled('carddata'),
      fields: {
        used_mb_month: 11,
        usage_month: '2026-11',
        changed: false,
        implausible_mb: 11_264,
        reason: 'not counted: 11253 MB in 60 s is more than 150 Mbit/s',
      },
      usageMbPerHour: 675_180,
      counter: 'counts',
      implausible: true,
    });
    expect(asked).toEqual([['implausible']]);
  });

  it.each([
    ['within', 15],
    ['unlimited', null],
  ])('finds that a card that is %s is not over its package', async (_, allowanceMb) => {
    answers = { flow: 15 };
    expect((await poll('carddata', { allowanceMb })).outcome).toMatchObject({ overPackage: false });
  });

  it('opens the first month of a card', async () => {
    answers = { flow: 3 };
    const { outcome, fields } = await poll('carddata', { usage: null });
    expect(outcome).toMatchObject({ usage: { next: { usedMb: 3 }, basedOnReadAtMs: null } });
    expect(fields).toEqual({ used_mb_month: 3, usage_month: '2026-11', changed: true });
  });

  it('writes no usage where a reading says nothing new', async () => {
    answers = { flow: 11 };
    expect(await poll('carddata')).toEqual({
      outcome: polled('carddata'),
      fields: { used_mb_month: 11, usage_month: '2026-11', changed: false },
      counter: 'counts',
    });
  });
});

describe('package', () => {
  it.each([
    ['uses its package to the last megabyte', { allowanceMb: 11 }, 11],
    ['has no bound', { allowanceMb: null }, 11],
    ['used too much last month', { usage: { ...USAGE, month: '2026-10' } }, 0],
    ['was never read', { usage: null }, 0],
  ])('finds within its package a card that %s', async (_, differing, usedMb) => {
    const { outcome, fields } = await poll('package', differing);
    expect([asked, logged]).toEqual([[], []]);
    expect(outcome).toEqual(polled('package'));
    expect(fields).toEqual({
      used_mb_month: usedMb,
      allowance_mb: { ...CARD, ...differing }.allowanceMb,
      over_package: false,
      stopped: false,
    });
  });

  it('says that a running card is over its package, and calls nothing but the status', async () => {
    const { outcome, fields } = await poll('package');
    expect(outcome).toEqual({ ...polled('package'), overPackage: true });
    expect(fields).toMatchObject({ over_package: true, stopped: false });
    expect([called.map(([name]) => name), asked]).toEqual([['card_status'], []]);
  });

  it('writes down and logs that a card was resumed', async () => {
    const { outcome } = await poll('package', { allowanceMb: null, stopped: true });
    expect(outcome).toEqual({ ...polled('package'), stopped: false });
    expect(logged).toEqual([{ level: 30, ...SAME, msg: '复机' }]);
  });

  it('records a stop of ours that shows, by its own figures', async () => {
    answers.card_status = 'stopped';
    const { outcome, fields } = await poll('package');
    expect(asked).toEqual([['complete', 7, CARD.iccid, '2026-11']]);
    expect(outcome).toEqual({ ...polled('package'), stopped: true });
    expect(fields).toEqual({ used_mb_month: 11, allowance_mb: 10, over_package: true, stopped: true });
    expect(entries).toEqual([entry]);
    expect(logged).toEqual([
      { level: 30, ...SAME, usage_month: '2026-11', used_mb_month: 12, allowance_mb: 9, msg: '停机' },
    ]);
  });

  it('records once that another system stopped a card over its package, and logs no stop', async () => {
    answers.card_status = 'stopped';
    entry = null;
    expect((await poll('package')).outcome).toMatchObject({ stopped: true });
    expect(asked).toEqual([['complete', 7, CARD.iccid, '2026-11']]);
    expect(entries).toEqual([]);
    expect(logged).toEqual([]);
    const known = await poll('package', { stopped: true });
    expect(known).toMatchObject({ outcome: polled('package'), fields: { over_package: true } });
    expect(asked).toHaveLength(1);
  });

  it('asks once whether a card within its package was stopped by a call of ours', async () => {
    answers.card_status = 'stopped';
    expect((await poll('package', { allowanceMb: null })).outcome).toMatchObject({ stopped: true });
    await poll('package', { allowanceMb: null, stopped: true });
    expect(asked).toEqual([['complete', 7, CARD.iccid, '2026-11']]);
  });
});
