// Times in the future as operators type them.
import { describe, expect, it } from 'vitest';
import { FUTURE_TIME } from '../../../src/cli/future-time.ts';
import { Zone } from '../../../src/log-search/time/zone.ts';

const at = (text: string, zone: string, now: string) => {
  const of = new Zone(zone);
  return of.format(FUTURE_TIME.parse(text)(Date.parse(now), of));
};

describe('a time in the future', () => {
  it.each([
    ['02:00', '2026-11-30T22:00:00+08:00', '2026-12-01T02:00:00+08:00'],
    ['02:00', '2026-11-30T01:59:00+08:00', '2026-11-30T02:00:00+08:00'],
    ['02:00', '2026-11-30T02:00:00+08:00', '2026-12-01T02:00:00+08:00'],
    ['23:30:15', '2026-11-30T22:00:00+08:00', '2026-11-30T23:30:15+08:00'],
    ['today 01:00', '2026-11-30T22:00:00+08:00', '2026-11-30T01:00:00+08:00'],
    ['tomorrow 23:00', '2026-11-30T22:00:00+08:00', '2026-12-01T23:00:00+08:00'],
    ['2026-12-02 03:00', '2026-11-30T22:00:00+08:00', '2026-12-02T03:00:00+08:00'],
    ['2026-12-02T03:00:30', '2026-11-30T22:00:00+08:00', '2026-12-02T03:00:30+08:00'],
    ['2026-12-02T03:00:00Z', '2026-11-30T22:00:00+08:00', '2026-12-02T11:00:00+08:00'],
    ['2026-12-02T03:00+01:00', '2026-11-30T22:00:00+08:00', '2026-12-02T10:00:00+08:00'],
    ['+2h', '2026-11-30T22:00:00+08:00', '2026-12-01T00:00:00+08:00'],
    ['now', '2026-11-30T22:00:00+08:00', '2026-11-30T22:00:00+08:00'],
  ])('%s, typed at %s, is %s', (text, now, expected) => {
    expect(at(text, 'Asia/Shanghai', now)).toBe(expected);
  });

  it('is no word, no impossible date and no time ago', () => {
    for (const text of ['tonight', '25:00', '2026-02-30 02:00', '2h', '-2h', '', '2026-12-01'])
      expect(() => FUTURE_TIME.parse(text), text).toThrow(/is not a time: type 02:00/);
  });
});

describe('where clocks change', () => {
  const BERLIN = 'Europe/Berlin';

  it('a time that the day does not have is refused, with the first one after the change', () => {
    for (const [text, now] of [
      ['02:30', '2027-03-27T22:00:00+01:00'],
      ['02:30', '2027-03-28T01:00:00+01:00'],
      ['tomorrow 02:30', '2027-03-27T12:00:00+01:00'],
      ['2027-03-28 02:30', '2026-11-30T12:00:00+01:00'],
    ] as const) {
      const asked = () => at(text, BERLIN, now);
      expect(asked, now).toThrow(/^02:30 does not exist on 2027-03-28 in Europe\/Berlin: clocks go forward$/);
      expect(asked).toThrow(
        expect.objectContaining({ hint: 'the first time after the change is 2027-03-28T03:00:00+02:00' }),
      );
    }
    expect(at('02:30', BERLIN, '2027-03-28T04:00:00+02:00'), 'the day after').toBe(
      '2027-03-29T02:30:00+02:00',
    );
  });

  it('a time that the day has twice means the first, or the second once that has passed', () => {
    expect(at('02:30', BERLIN, '2026-10-24T22:00:00+02:00')).toBe('2026-10-25T02:30:00+02:00');
    expect(at('2026-10-25 02:30', BERLIN, '2026-10-01T22:00:00+02:00')).toBe('2026-10-25T02:30:00+02:00');
    expect(at('02:30', BERLIN, '2026-10-25T02:40:00+02:00')).toBe('2026-10-25T02:30:00+01:00');
    expect(at('02:30', BERLIN, '2026-10-25T02:40:00+01:00')).toBe('2026-10-26T02:30:00+01:00');
  });
});
