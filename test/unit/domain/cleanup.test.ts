import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { cleanupBounds } from '../../../src/domain/cleanup.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const bounds = (target: Parameters<typeof cleanupBounds>[0], days: number, now: string) =>
  cleanupBounds(target, days, Date.parse(now), calendar);

describe('cleanup bounds', () => {
  it('a cutoff keeps the days of the retention, and every month from its own', () => {
    expect(bounds('usage_records', 180, '2026-11-21T10:00:00Z')).toEqual({
      cutoffMs: Date.parse('2026-05-25T10:00:00Z'),
      firstKeptMonth: '2026-05',
    });
  });

  it('take months in the configured zone', () => {
    expect(bounds('usage_records', 30, '2026-05-30T15:59:59Z').firstKeptMonth).toBe('2026-04');
    expect(bounds('usage_records', 30, '2026-05-30T16:00:00Z').firstKeptMonth).toBe('2026-05');
  });

  it.each([
    [1, '2026-10'],
    [40, '2026-10'],
    [60, '2026-09'],
    [730, '2024-11'],
  ])('keep usage of this month and the one before, also with %d days', (days, month) => {
    expect(bounds('card_usage', days, '2026-11-21T10:00:00Z').firstKeptMonth).toBe(month);
  });

  it('find the month before January', () => {
    expect(bounds('card_usage', 1, '2027-01-21T10:00:00Z').firstKeptMonth).toBe('2026-12');
  });

  it('keep the stops of the current month', () => {
    for (const days of [1, 60]) {
      expect(bounds('card_stops', days, '2026-11-21T10:00:00Z').firstKeptMonth).toBe('2026-11');
    }
  });
});
