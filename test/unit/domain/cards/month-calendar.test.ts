// Months of instants, in zones that are ahead of UTC by hours and quarters of an hour.
import { describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const at = (iso: string) => Date.parse(iso);

describe('MonthCalendar', () => {
  it('changes the month at midnight in the configured zone, not in UTC', () => {
    expect(calendar.monthOf(at('2026-10-31T15:59:59.999Z'))).toBe('2026-10');
    expect(calendar.monthOf(at('2026-10-31T16:00:00.000Z'))).toBe('2026-11');
    expect(new MonthCalendar('UTC').monthOf(at('2026-10-31T16:00:00.000Z'))).toBe('2026-10');
  });

  it('is right whatever order instants come in', () => {
    const fresh = new MonthCalendar('Asia/Shanghai');
    expect(fresh.monthOf(at('2026-11-30T16:00:00Z'))).toBe('2026-12');
    expect(fresh.monthOf(at('2026-11-30T15:59:59Z'))).toBe('2026-11');
    expect(fresh.monthOf(at('2026-12-31T16:00:00Z'))).toBe('2027-01');
  });

  it('follows zones with offsets of a quarter of an hour', () => {
    const kathmandu = new MonthCalendar('Asia/Kathmandu');
    expect(kathmandu.monthOf(at('2026-10-31T18:14:59Z'))).toBe('2026-10');
    expect(kathmandu.monthOf(at('2026-10-31T18:15:00Z'))).toBe('2026-11');
  });

  it('refuses an unknown zone', () => {
    expect(() => new MonthCalendar('Mars/Olympus')).toThrow(RangeError);
  });
});
