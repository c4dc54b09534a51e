import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { monthEndWords, monthTurnAhead } from '../../../../src/domain/cards/month-end.ts';

describe('the turn of a month', () => {
  it.each([
    ['Asia/Shanghai', '2026-11-27T16:00:00.000Z', '2026-11-30T16:00:00.000Z', '2026-12'],
    ['Asia/Shanghai', '2026-11-30T15:59:59.999Z', '2026-11-30T16:00:00.000Z', '2026-12'],
    ['Asia/Kathmandu', '2026-12-31T12:00:00.000Z', '2026-12-31T18:15:00.000Z', '2027-01'],
    ['UTC', '2027-02-28T23:50:00.000Z', '2027-03-01T00:00:00.000Z', '2027-03'],
  ])('in %s, seen at %s, is at %s', (zone, now, turnsAt, next) => {
    const turn = monthTurnAhead(new MonthCalendar(zone), Date.parse(now));
    expect([new Date(turn?.turnsAtMs ?? 0).toISOString(), turn?.next]).toEqual([turnsAt, next]);
  });

  it('is not said earlier than three days before', () => {
    const calendar = new MonthCalendar('Asia/Shanghai');
    for (const now of ['2026-11-27T15:59:59Z', '2026-11-30T16:00:00Z'])
      expect(monthTurnAhead(calendar, Date.parse(now)), now).toBeNull();
  });
});

it('the words say what happens to stopped cards', () => {
  const turn = { seconds: 187_200, timeZone: 'Asia/Shanghai' };
  expect(monthEndWords(turn, 406, false)).toBe(
    'in 2d 4h by Asia/Shanghai; then 406 cards stay stopped: stops.resume_at_month_start is off, and would resume them',
  );
  expect(monthEndWords(turn, 1, false)).toMatch(/then 1 card stays stopped: .* would resume it$/);
  expect(monthEndWords(turn, 406, true)).toMatch(/; then 406 cards are resumed, within four hours$/);
  expect(monthEndWords(turn, 0, true)).toMatch(/; no card is stopped by cardpoll$/);
  expect(monthEndWords(turn, null, true)).toMatch(/; how many cards are stopped is not known$/);
});
