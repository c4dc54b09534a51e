// When the run of a month is made: on its first day in the configured time zone, if the setting is on.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../../src/domain/cards/usage-month.ts';
import { MonthStart } from '../../../../src/engine/stops/month-start.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import type { ResumeRun } from '../../../../src/store/ports/records/resume-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let now: string;
/** Of this machine, whatever it says. */
let clock: FakeClock;
let asked: string[];
let notes: AuditChange[];
let lines: Array<Record<string, unknown>>;
/** The spread of the run of each month. */
let made: Map<string, number>;

beforeEach(() => {
  now = '2026-11-30T16:00:00Z';
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
  ['in the first second of a month', '2026-11-30T16:00:00.000Z', true],
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
