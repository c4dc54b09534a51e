// The trail itself: that no change takes effect without an entry, what an entry says and when it is logged.
// How it is read: the contract suite, and the API's.
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { Audit, type AuditDependencies } from '../../../src/operations/audit.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type OperatedStores, openOperatedStores } from '../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: '192.0.2.1', requestId: 'req-1' };
const BEN: Actor = { name: 'ben', role: 'operator', address: null, requestId: null };
/** Still October in UTC, November where the fleet is. */
const FIRST_START_MS = Date.parse('2026-10-31T16:30:00Z');
const CHANGE = {
  action: 'config.update',
  object: 'config 3',
  before: null,
  after: { intervalSeconds: 60 },
};
/** What no store keeps: an entry about nothing. */
const UNKEEPABLE = { ...CHANGE, object: null as unknown as string };
const REFUSAL = new CardpollError('conflict', 'not_like_this', 'not like this');
const SILENCE = { ruleId: null, ruleType: null, taskType: 'package', reason: 'x', by: 'anna' } as const;

let stores: OperatedStores;
let tests = 0;
/** Nothing removes an entry: each test has a minute of its own. */
let startMs: number;
let clock: FakeClock;
let logged: unknown[];
let audit: Audit;

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  await stores.sql('DELETE FROM alert_silences');
  tests += 1;
  startMs = FIRST_START_MS + tests * 60_000;
  clock = new FakeClock(startMs);
  logged = [];
  audit = over();
});

function over(records: Partial<AuditDependencies['records']> = {}): Audit {
  return new Audit({
    records: { ...stores.records, ...records },
    clock,
    calendar: new MonthCalendar('Asia/Shanghai'),
    log: { info: (entry, message) => logged.push([entry, message]) },
  });
}

/** Of this test, the newest first. */
const kept = async () =>
  (
    await audit.list(
      { sinceMs: startMs, untilMs: null, actor: null, action: null, object: null },
      { page: 1, pageSize: 100 },
    )
  ).items;

const actions = async () => (await kept()).map(({ action }) => action);
const silences = () => stores.records.alerts.silences.list();
const silence = (records: typeof stores.records) =>
  records.alerts.silences.create({ ...SILENCE, ends: { inSeconds: 3_600 } });

describe('an entry', () => {
  it('is kept with who, what and when, in the month of the fleet, and logged', async () => {
    await audit.record(ANNA, CHANGE);
    expect(await kept()).toEqual([
      {
        id: expect.any(Number),
        at: new Date(startMs),
        actor: 'anna',
        role: 'admin',
        address: '192.0.2.1',
        requestId: 'req-1',
        ...CHANGE,
        after: { interval_seconds: 60 },
      },
    ]);
    expect(await stores.sql("SELECT to_char(month, 'YYYY-MM') AS month FROM audit LIMIT 1")).toMatchObject({
      rows: [{ month: '2026-11' }],
    });
    expect(logged).toEqual([
      [
        {
          at: new Date(startMs).toISOString(),
          actor: 'anna',
          role: 'admin',
          address: '192.0.2.1',
          request_id: 'req-1',
          ...CHANGE,
          after: { interval_seconds: 60 },
        },
        'audit',
      ],
    ]);
  });

  it('an entry that is not kept is not logged', async () => {
    await expect(audit.record(ANNA, UNKEEPABLE)).rejects.toThrow();
    expect([await kept(), logged]).toEqual([[], []]);
  });
});

describe('a change', () => {
  it('is kept with all that was noted of it, which is logged when it is kept', async () => {
    const made = await audit.change(ANNA, async (records, note) => {
      note(CHANGE);
      clock.advance(1_000);
      note({ ...CHANGE, action: 'silence.begin' });
      expect(logged).toEqual([]);
      return silence(records);
    });
    expect(await silences()).toEqual([made]);
    expect((await kept()).map(({ at, actor, action }) => [at.getTime() - startMs, actor, action])).toEqual([
      [1_000, 'anna', 'silence.begin'],
      [0, 'anna', 'config.update'],
    ]);
    const lineOf = (action: string) => [expect.objectContaining({ action }), 'audit'];
    expect(logged).toEqual([lineOf('config.update'), lineOf('silence.begin')]);
  });

  it('a change that fails, or cannot be noted, is not made', async () => {
    const failed = audit.change(ANNA, async (records, note) => {
      await silence(records);
      note(CHANGE);
      throw REFUSAL;
    });
    await expect(failed).rejects.toBe(REFUSAL);
    const unnoted = audit.change(ANNA, async (records, note) => {
      await silence(records);
      note(UNKEEPABLE);
    });
    await expect(unnoted).rejects.toThrow();
    expect([await silences(), await kept(), logged]).toEqual([[], [], []]);
  });

  it('a change of nothing leaves no trace', async () => {
    expect(await audit.change(ANNA, async () => 5)).toBe(5);
    expect([await kept(), logged]).toEqual([[], []]);
  });

  it('waits for the one before, whatever becomes of that, and holds no connection meanwhile', async () => {
    let turns = 0;
    const { inTurn } = stores.records;
    const waiting = over({
      inTurn: (work) => {
        turns += 1;
        return inTurn(work);
      },
    });
    let fail = () => {};
    let first: Promise<unknown> = Promise.resolve();
    await new Promise<void>((begun) => {
      first = waiting.change(
        ANNA,
        () =>
          new Promise((_done, failed) => {
            fail = () => failed(REFUSAL);
            begun();
          }),
      );
    });
    const second = waiting.change(BEN, async (_records, note) => note(CHANGE));
    await setImmediate();
    expect(turns).toBe(1);
    fail();
    await expect(first).rejects.toBe(REFUSAL);
    await second;
    expect(turns).toBe(2);
    expect(await kept()).toMatchObject([{ actor: 'ben' }]);
  });
});

describe('a change outside the record store', () => {
  it('is kept before it is made', async () => {
    expect(await audit.announce(ANNA, CHANGE, actions)).toEqual(['config.update']);
    expect(await actions()).toEqual(['config.update']);
  });

  it('a change outside the record store that did not come about after all says so', async () => {
    const failed = audit.announce(ANNA, CHANGE, async () => {
      throw new Error('the live store went away');
    });
    await expect(failed).rejects.toThrow('the live store went away');
    expect(await kept()).toMatchObject([
      {
        actor: 'anna',
        action: 'config.update.failed',
        object: 'config 3',
        before: null,
        after: { error: 'the live store went away' },
      },
      { action: 'config.update', after: { interval_seconds: 60 } },
    ]);
  });

  it('is not made when it cannot be kept', async () => {
    let made = false;
    const failed = audit.announce(ANNA, UNKEEPABLE, async () => {
      made = true;
    });
    await expect(failed).rejects.toThrow();
    expect(made).toBe(false);
  });

  it('fails with its own error, also when the failure cannot be recorded', async () => {
    const bug = new Error('a bug');
    const { audit: known } = stores.records;
    let away = false;
    const failing = over({
      audit: Object.assign(Object.create(known), {
        append: (...entries: Parameters<typeof known.append>) =>
          away ? Promise.reject(new Error('away')) : known.append(...entries),
      }),
    });
    const failed = failing.announce(ANNA, CHANGE, async () => {
      away = true;
      throw bug;
    });
    await expect(failed).rejects.toBe(bug);
    expect(await actions()).toEqual(['config.update']);
  });
});
