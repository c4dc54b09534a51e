// The upkeep of orders, only on the leader: open stops are looked at in steps, from the first to the last, and then again; the run of a
// month is made on its first day in the configured time zone, if the setting is on; runs hand out in steps.

import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { MonthStart, OrderUpkeep } from '../../../../src/engine/orders/order-upkeep.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import type { ResumeRun } from '../../../../src/store/ports/records/resume-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let fence: number | null;
let monthStarts: number;
let clock: FakeClock;
/** After which card ids it asked for open stops. */
let lookedAfter: number[];
let held: Array<{ lastCardId: number | null; dropped: number }>;
let lines: Array<Record<string, unknown>>;
/** Steps left of each run, and those that were made. */
let left: Map<string, number>;
let steps: string[];
let upkeep: OrderUpkeep;

beforeEach(() => {
  clock = new FakeClock();
  [fence, monthStarts, lookedAfter, held, lines] = [1, 0, [], [], []];
  left = new Map();
  steps = [];
  upkeep = new OrderUpkeep({
    records: {
      stops: {
        dropUnwanted: async (after) => {
          lookedAfter.push(after);
          return held.shift() ?? { lastCardId: null, dropped: 0 };
        },
      },
      resumes: {
        open: async () => [...left.keys()],
        handOut: async (id) => {
          steps.push(id);
          const n = (left.get(id) ?? 0) - 1;
          left.set(id, n);
          return n > 0;
        },
      },
    },
    monthStart: {
      run: async () => {
        monthStarts += 1;
      },
    },
    fence: () => fence,
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
});

it('has each run hand out as many cards as may wait, in some steps a turn', async () => {
  left = new Map([
    ['large', 13],
    ['small', 1],
  ]);
  await upkeep.runOnce();
  expect([steps.filter((id) => id === 'large').length, steps.filter((id) => id === 'small').length]).toEqual([
    10, 1,
  ]);
  await upkeep.runOnce();
  expect([left.get('large'), monthStarts]).toEqual([0, 2]);
});

it('does nothing while another instance leads', async () => {
  fence = null;
  left = new Map([['large', 3]]);
  await upkeep.runOnce();
  expect(steps).toEqual([]);
  expect([lookedAfter, monthStarts]).toEqual([[], 0]);
});

it('looks at all open stops every ten seconds, and logs once how many it dropped', async () => {
  held = [
    { lastCardId: 40, dropped: 2 },
    { lastCardId: 90, dropped: 1 },
  ];
  for (let call = 0; call < 5; call += 1) await upkeep.runOnce();
  expect(lookedAfter).toEqual([0, 40, 90]);
  expect(lines).toMatchObject([{ level: 30, stops: 3 }]);
  clock.advance(9_999);
  await upkeep.runOnce();
  expect(lookedAfter).toHaveLength(3);
  clock.advance(1);
  await upkeep.runOnce();
  expect(lookedAfter).toEqual([0, 40, 90, 0]);
  expect(lines).toHaveLength(1);
});

describe('the start of a month', () => {
  let now: string;
  /** Of this machine, whatever it says. */
  let clock: FakeClock;
  let asked: string[];
  let notes: AuditChange[];
  let lines: Array<Record<string, unknown>>;
  /** The spread of the run of each month. */
  let made: Map<string, number>;

  beforeEach(() => {
    now = '2026-11-30T16:01:00Z';
    clock = new FakeClock('2031-01-20T00:00:00Z');
    [asked, notes, lines, made] = [[], [], [], new Map()];
  });

  function monthStart(enabled = true): MonthStart {
    const resumes: Partial<RecordStore['resumes']> = {
      hasRunFor: async ({ beginning }) => {
        asked.push(beginning);
        return made.has(beginning);
      },
      preview: async () => ({ total: 5, skipped: 0 }),
      createForMonth: async ({ beginning }, expected, spreadMs) => {
        made.set(beginning, spreadMs);
        return { id: 'r', total: expected, reason: 'a month began' } as ResumeRun;
      },
    };
    const records = { now: async () => Date.parse(now), resumes } as RecordStore;
    return new MonthStart({
      enabled,
      records,
      live: { now: async () => Date.parse(now) },
      audit: {
        change: (actor, work) => {
          expect(actor.name).toBe('daemon');
          return work(records, (change) => void notes.push(change));
        },
      },
      calendar: new MonthCalendar('Asia/Shanghai'),
      clock,
      log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
  }

  it('looks once a minute, and makes one run, spread over four hours, with an audit entry and a line', async () => {
    const subject = monthStart();
    await subject.run();
    clock.advance(59_999);
    await subject.run();
    expect(asked).toEqual(['2026-12']);
    clock.advance(1);
    await subject.run();
    expect(asked).toHaveLength(2);
    expect([...made]).toEqual([['2026-12', 4 * 3_600_000]]);
    expect(notes).toEqual([
      {
        action: 'stops.resume',
        object: 'resume run r',
        before: null,
        after: { cards: 5, reason: 'a month began' },
      },
    ]);
    expect(lines).toMatchObject([{ level: 30, run_id: 'r', month: '2026-12', cards: 5 }]);
  });

  it.each<[string, string, boolean]>([
    ['in the last second of a month', '2026-11-30T15:59:59.999Z', false],
    ['while calls of the month before may still be made', '2026-11-30T16:00:59.999Z', false],
    ['in the second minute of a month', '2026-11-30T16:01:00.000Z', true],
    ['in the last second of its first day', '2026-12-01T15:59:59.999Z', true],
    ['later in the month', '2026-12-01T16:00:00.000Z', false],
  ])('%s', async (_, at, isMade) => {
    now = at;
    await monthStart().run();
    expect(asked).toHaveLength(isMade ? 1 : 0);
  });

  it('makes none when the setting is off', async () => {
    await monthStart(false).run();
    expect(asked).toEqual([]);
  });
});
