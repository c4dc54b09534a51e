import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { WithinResume } from '../../../../src/engine/orders/within-resume.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import type { ResumeRun } from '../../../../src/store/ports/records/resume-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const NOW = Date.parse('2026-11-30T16:01:00Z');

/** @param steps what each look at the list finds */
function subjectOf(steps: Array<{ lastCardId: number | null; cardIds: number[] }>, fence: number | null = 1) {
  const [asked, made, notes, tried]: [unknown[], unknown[], unknown[], unknown[]] = [[], [], [], []];
  const stoppedWithin: Partial<RecordStore['stoppedWithin']> = {
    confirmed: async (...params) => {
      asked.push(params);
      return steps.shift() ?? { lastCardId: null, cardIds: [] };
    },
    noteTried: async (cardIds) => void tried.push(cardIds),
  };
  const resumes: Partial<RecordStore['resumes']> = {
    create: async (request) => {
      made.push(request);
      return { id: 'r' } as ResumeRun;
    },
  };
  const records = { now: async () => NOW + 5_000, stoppedWithin, resumes } as unknown as RecordStore;
  const subject = new WithinResume({
    records,
    live: { now: async () => NOW },
    audit: { change: (_, work) => work(records, (change) => void notes.push(change)) },
    calendar: new MonthCalendar('Asia/Shanghai'),
    clock: new FakeClock('2031-01-20T00:00:00Z'),
    fence: () => fence,
    onError: () => {},
    log: pino({ enabled: false }),
  });
  return { subject, asked, made, notes, tried };
}

it('makes a run of the cards that are confirmed, which may be stopped again, and goes on through the list', async () => {
  const { subject, asked, made, notes, tried } = subjectOf([
    { lastCardId: 9, cardIds: [4, 7] },
    { lastCardId: null, cardIds: [] },
  ]);
  expect(await subject.runOnce()).toBe(100);
  expect(await subject.runOnce()).toBe(500);
  await subject.runOnce();
  expect(asked).toEqual([0, 9, 0].map((after) => ['2026-12', after, 2_000, 3_600_000]));
  expect(made).toMatchObject([{ selection: { cardIds: [4, 7] }, expected: 2, stopAgain: true }]);
  expect(tried).toEqual([[4, 7]]);
  expect(notes).toMatchObject([
    { action: 'stops.resume', object: 'resume run r', after: { cards: 2, stopAgain: true } },
  ]);
});

it('looks at nothing while another instance leads', async () => {
  const { subject, asked } = subjectOf([], null);
  await subject.runOnce();
  expect(asked).toEqual([]);
});
