// What a poll of each task finds, writes and logs, with answers and records as the test wants them. The package task on a
// real gateway, database and cache: test/integration/engine/tasks/package.test.ts.
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/domain/audit.ts';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { UsageMonth } from '../../../../src/domain/cards/usage-month.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import type { PackageTaskDeps } from '../../../../src/engine/tasks/package.ts';
import { makeTask } from '../../../../src/engine/tasks/reading-tasks.ts';
import { Deadline, type TaskResult } from '../../../../src/engine/work/task.ts';
import { type Gateway, GatewayError } from '../../../../src/gateway/gateway.ts';
import type { ResumeClaim } from '../../../../src/store/ports/records/resume-records.ts';
import type { StopClaim, StopLook } from '../../../../src/store/ports/records/stop-records.ts';
import { card } from '../../../support/cards.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ONE_CARD_A_CALL } from '../../../support/one-card-calls.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';

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
let claim: StopClaim;
/** What a look says; null: as the claim will. */
let look: StopLook | null;
let claimTakesMs: number;
let resumeClaim: ResumeClaim;
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
  claim = { state: 'granted', month: '2026-11', attempt: 3 };
  look = null;
  entry = { action: 'card.stop', after: { used_mb: 12, allowance_mb: 9 } } as unknown as AuditEntry;
  [called, entries, asked, logged] = [[], [], [], []];
  claimTakesMs = 0;
  resumeClaim = { state: 'none' };
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

let offersStop = true;

const stops: PackageTaskDeps['records']['stops'] = {
  look: async (cards, ...question) => {
    asked.push(['look', ...cards.map(({ cardId, iccid }) => [cardId, iccid]), ...question]);
    const answer: StopLook = 'attempt' in claim ? { state: 'open' } : claim;
    return new Map(cards.map(({ cardId }) => [cardId, look ?? answer]));
  },
  claim: async ({ cardId, iccid }, ...question) => {
    asked.push(['claim', cardId, iccid, ...question]);
    clock.advance(claimTakesMs);
    return claim;
  },
  complete: async ({ cardId, iccid }, ...question) => {
    asked.push(['complete', cardId, iccid, ...question]);
    return entry;
  },
  acknowledge: async (...question) => {
    asked.push(['acknowledge', ...question]);
    return { calls: 2, retryInMs: 60_000 };
  },
  abandon: async (...question) => void asked.push(['abandon', ...question]),
};

/** The calls of resumes in detail: card-calls.test.ts. */
const resumes: PackageTaskDeps['records']['resumes'] = {
  claim: async (sim, ...question) => {
    asked.push(['claim resume', sim.cardId, ...question]);
    return resumeClaim;
  },
  complete: async (...question) => {
    asked.push(['complete resume', ...question]);
    return { action: 'card.resume', after: { outcome: 'resumed' } } as unknown as AuditEntry;
  },
  acknowledge: async () => false,
  abandon: async () => false,
};

function poll(taskType: TaskType, differing: Partial<Card> = {}): Promise<TaskResult> {
  const task = makeTask(taskType, {
    gateway,
    offers: (name) => name !== 'stop' || offersStop,
    records: { stops, resumes },
    audit: { log: (one) => void entries.push(one) },
    reader: { forget: async (cardIds) => void asked.push(['forget', cardIds]) },
    calendar: new MonthCalendar('Asia/Shanghai'),
    stopRules: () => UNLIMITED,
    again: async () => {},
    leaseMs: LEASE_MS,
    clock,
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
    });
  });
});

describe('package', () => {
  it.each([
    ['uses its package to the last megabyte', { allowanceMb: 11 }, 11],
    ['has no bound', { allowanceMb: null }, 11],
    ['used too much last month', { usage: { ...USAGE, month: '2026-10' } }, 0],
    ['was never read', { usage: null }, 0],
  ])('claims no stop of a card that %s', async (_, differing, usedMb) => {
    const { outcome, fields } = await poll('package', differing);
    expect([asked, logged]).toEqual([[], []]);
    expect(outcome).toEqual(polled('package'));
    expect(fields).toMatchObject({ used_mb_month: usedMb, over_package: false, stopped: false });
  });

  it('writes down and logs that a card was resumed', async () => {
    const { outcome } = await poll('package', { allowanceMb: null, stopped: true });
    expect(outcome).toEqual({ ...polled('package'), stopped: false });
    expect(logged).toEqual([{ level: 30, ...SAME, msg: '复机' }]);
  });

  it('claims and calls nothing for a card over its package when the gateway offers no stop', async () => {
    offersStop = false;
    answers = { card_status: 'active' };
    const { fields } = await poll('package', { allowanceMb: 0 }).finally(() => {
      offersStop = true;
    });
    expect(fields).toMatchObject({ over_package: true, stopped: false });
    expect([called.map(([name]) => name), asked]).toEqual([['card_status'], []]);
  });

  it('stops a card over its package by the figures of the claim, and logs the stop', async () => {
    answers.stop = () => {
      answers.card_status = 'stopped';
      return null;
    };
    const { outcome, fields } = await poll('package');
    expect(called.map(([name]) => name)).toEqual(['card_status', 'stop', 'card_status']);
    expect(asked.slice(1)).toEqual([
      ['claim', 7, CARD.iccid, '2026-11', LEASE_MS, UNLIMITED],
      ['complete', 7, CARD.iccid, '2026-11'],
    ]);
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

  it('believes no reading that is in doubt', async () => {
    const { fields } = await poll('package', { usage: { ...USAGE, suspectedMb: 0 } });
    expect(fields).toMatchObject({ over_package: true, stopped: false });
    expect(asked).toEqual([]);
  });

  it.each([
    ['not_over', { over_package: false, stopped: false }, [['forget', [7]]]],
    ['done', { over_package: true, stopped: false }, []],
  ] as const)('calls nothing where the claim says %s', async (state, fields, further) => {
    claim = { state };
    expect((await poll('package')).fields).toMatchObject(fields);
    expect(asked.slice(1)).toEqual(further);
    expect(called).toHaveLength(1);
  });

  it.each([
    [
      { state: 'held', heldBy: 'budget_hour', isNew: true },
      [{ level: 40, ...SAME, held_by: 'budget_hour', msg: 'stop held' }],
    ],
    [{ state: 'held', heldBy: 'budget_hour', isNew: false }, []],
    [{ state: 'observed', isNew: true }, [{ level: 30, ...SAME, msg: 'stop observed' }]],
    [{ state: 'observed', isNew: false }, []],
  ] as const)('calls nothing where the claim says %o', async (answer, lines) => {
    claim = answer;
    const { fields, outcome } = await poll('package');
    expect(fields).toMatchObject({ over_package: true, stopped: false, stop: answer.state });
    expect(outcome).toEqual(polled('package'));
    expect(called).toHaveLength(1);
    expect(logged).toEqual(lines);
  });

  it.each<[StopClaim, object | string]>([
    [
      { state: 'observed', isNew: true },
      { over_package: true, stopped: false, stop: 'observed' },
    ],
    [
      { state: 'held', heldBy: 'budget_hour', isNew: true },
      { over_package: true, stopped: false, stop: 'held' },
    ],
    [{ state: 'not_over' }, { over_package: false, stopped: false }],
    [{ state: 'done' }, { over_package: true, stopped: false }],
    [{ state: 'other_iccid' }, 'other_iccid'],
    [{ state: 'claimed' }, 'stop_in_progress'],
  ])('believes the claim where it says %o after a look that said open', async (answer, expected) => {
    [look, claim] = [{ state: 'open' }, answer];
    if (typeof expected === 'string') await expect(poll('package')).rejects.toMatchObject({ code: expected });
    else expect((await poll('package')).fields).toMatchObject(expected);
    expect(asked.slice(0, 2).map(([what]) => what)).toEqual(['look', 'claim']);
    expect(called).toHaveLength(1);
  });

  it('claims the stop of a card within its package only if an operator ordered it', async () => {
    const within = { usage: { ...USAGE, usedMb: 1 } };
    await poll('package', within);
    expect(asked).toEqual([]);
    claim = { state: 'not_over' };
    await poll('package', { ...within, ordered: true });
    expect(asked.slice(0, 2)).toEqual([
      ['claim resume', 7, false, LEASE_MS],
      ['look', [7, CARD.iccid], '2026-11', UNLIMITED],
    ]);
  });

  it('resumes a card that waits in a run, and does not stop it in the same poll', async () => {
    resumeClaim = { state: 'granted', runId: 'r', attempt: 1 };
    entry = null;
    answers = {
      card_status: 'stopped',
      start: () => {
        answers.card_status = 'active';
        return null;
      },
    };
    const { outcome, fields } = await poll('package', { ordered: true, stopped: true });
    expect(called.map(([name]) => name)).toEqual(['card_status', 'start', 'card_status']);
    expect(asked.map(([what]) => what)).toEqual(['complete', 'claim resume', 'complete resume', 'forget']);
    expect(outcome).toEqual({ ...polled('package'), stopped: false });
    expect(fields).toEqual({ used_mb_month: 11, allowance_mb: 10, over_package: true, stopped: false });
    expect(logged.map(({ msg }) => msg)).toEqual(['复机']);
  });

  it('reads a card with an order again after every poll, also one that failed', async () => {
    resumeClaim = { state: 'claimed', runId: 'r' };
    answers.card_status = 'stopped';
    await expect(poll('package', { ordered: true })).rejects.toMatchObject({ code: 'resume_in_progress' });
    expect(asked.at(-1)).toEqual(['forget', [7]]);
  });

  it('records the order of a card that was stopped otherwise', async () => {
    answers.card_status = 'stopped';
    expect((await poll('package', { ordered: true, stopped: true, allowanceMb: null })).outcome).toEqual(
      polled('package'),
    );
    expect(asked.map(([what]) => what)).toEqual(['complete', 'claim resume', 'forget']);
  });

  it('leaves a card to the worker that is stopping it', async () => {
    claim = { state: 'claimed' };
    await expect(poll('package')).rejects.toMatchObject({
      kind: 'busy',
      code: 'stop_in_progress',
      message: 'a call for card 7 is under way, or its outcome is not known yet',
    });
  });

  const UNCONFIRMED = {
    kind: 'busy',
    code: 'stop_unconfirmed',
    message: 'the gateway acknowledged the stop of card 7 and shows it running',
    hint: expect.stringContaining('ask the owner of the gateway'),
  };

  it('waits for the pause to end where a stop showed no effect', async () => {
    claim = { state: 'unconfirmed' };
    await expect(poll('package')).rejects.toMatchObject(UNCONFIRMED);
    expect(called).toHaveLength(1);
  });

  it('says how often a stop was acknowledged without effect, and when it is called for again', async () => {
    await expect(poll('package', { stopped: true })).rejects.toMatchObject(UNCONFIRMED);
    expect(asked.slice(2)).toEqual([
      ['forget', [7]],
      ['acknowledge', 7, '2026-11', 3],
    ]);
    expect(logged).toEqual([
      {
        level: 40,
        ...SAME,
        usage_month: '2026-11',
        attempts: 2,
        retry_in_ms: 60_000,
        reason: '停卡未确认',
        msg: 'stop_unconfirmed',
      },
    ]);
  });

  it('does not take a stop for one without effect when the status question gets no answer', async () => {
    const lost = new GatewayError('timeout', 'timed out');
    answers.stop = () => {
      answers.card_status = lost;
      return null;
    };
    await expect(poll('package')).rejects.toBe(lost);
    expect(asked.map(([what]) => what)).toEqual(['look', 'claim']);
    expect(logged).toEqual([]);
  });

  it('makes no claim when the lease is half over', async () => {
    answers.card_status = () => {
      clock.advance(LEASE_MS / 2);
      return 'active';
    };
    await expect(poll('package')).rejects.toMatchObject({
      failure: 'held',
      message: 'the lease was over before the claim',
    });
    expect(asked.map(([what]) => what)).toEqual(['look']);
    expect(called).toHaveLength(1);
  });

  it('makes no call when the lease is half over, and gives the claim back with the reason', async () => {
    claimTakesMs = LEASE_MS / 2;
    await expect(poll('package')).rejects.toMatchObject({
      failure: 'held',
      message: 'the lease was over before the call',
    });
    expect(asked.at(-1)).toEqual(['abandon', 7, '2026-11', 3, 'the lease was over before the call', false]);
    expect(called).toHaveLength(1);
  });

  it.each([
    [
      'refused',
      new GatewayError('backpressure', 'answered with 429'),
      ['abandon', 7, '2026-11', 3, 'answered with 429', false],
    ],
    [
      'lost',
      new GatewayError('timeout', 'timed out'),
      ['claim', 7, CARD.iccid, '2026-11', LEASE_MS, UNLIMITED],
    ],
  ] as const)('gives the claim back only for a call that was refused: %s', async (_, error, last) => {
    answers.stop = error;
    await expect(poll('package')).rejects.toBe(error);
    expect(asked.at(-1)).toEqual(last);
  });
});
