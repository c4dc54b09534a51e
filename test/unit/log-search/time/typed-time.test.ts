// Times and days as an operator types them, in a zone that changes its clocks.
import { describe, expect, it } from 'vitest';
import { type Edge, typedDay, typedTime } from '../../../../src/log-search/time/typed-time.ts';
import { Zone } from '../../../../src/log-search/time/zone.ts';

const BERLIN = new Zone('Europe/Berlin');
/** 10:00 in Berlin. */
const NOW = Date.parse('2026-11-21T09:00:00Z');

const read = (text: string, nowMs = NOW, edge: Edge = 'since') => {
  const ms = typedTime(text, BERLIN, nowMs, edge);
  return ms === null ? null : new Date(ms).toISOString();
};

describe('a time', () => {
  it.each([
    ['90s', '2026-11-21T08:58:30.000Z'],
    ['2h', '2026-11-21T07:00:00.000Z'],
    ['-2h', '2026-11-21T07:00:00.000Z'],
    ['7d', '2026-11-14T09:00:00.000Z'],
    ['999999999d', '1970-01-01T00:00:00.000Z'],
    ['02:00', '2026-11-21T01:00:00.000Z'],
    ['10:00', '2026-11-21T09:00:00.000Z'],
    ['10:00:01', '2026-11-20T09:00:01.000Z'],
    ['today', '2026-11-20T23:00:00.000Z'],
    ['yesterday', '2026-11-19T23:00:00.000Z'],
    ['yesterday 22:30', '2026-11-20T21:30:00.000Z'],
    ['today 23:00', '2026-11-21T22:00:00.000Z'],
    ['2026-11-20', '2026-11-19T23:00:00.000Z'],
    ['2026-11-20 06:30', '2026-11-20T05:30:00.000Z'],
    ['2026-11-21T18:00:00+08:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00Z', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21t10:00z', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21 18:00 +0800', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21 18:00:00 +0800', '2026-11-21T10:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it('a time of a day on which the clocks change is that of the clock on the wall', () => {
    const changed = Date.parse('2026-03-29T12:00:00Z');
    expect(read('today 01:00', changed)).toBe('2026-03-29T00:00:00.000Z');
    expect(read('today 12:00', changed)).toBe('2026-03-29T10:00:00.000Z');
    expect(read('yesterday 12:00', changed)).toBe('2026-03-28T11:00:00.000Z');
  });

  it('a time that occurs twice is the first as the start of a range, and the second as its end', () => {
    for (const text of ['2026-10-25 02:30', 'yesterday 02:30', '2026-10-25T02:30:00']) {
      const now = Date.parse('2026-10-26T12:00:00Z');
      expect([read(text, now), read(text, now, 'until')], text).toEqual([
        '2026-10-25T00:30:00.000Z',
        '2026-10-25T01:30:00.000Z',
      ]);
    }
    expect(read('02:30', Date.parse('2026-10-25T01:10:00Z'), 'until'), 'the last that has passed').toBe(
      '2026-10-25T00:30:00.000Z',
    );
    expect(read('2026-10-25T02:30:00+02:00', NOW, 'until')).toBe('2026-10-25T00:30:00.000Z');
  });

  it('a time that never occurs is the instant at which the clocks change', () => {
    for (const text of ['2026-03-29 02:00', '2026-03-29 02:30', '2026-03-29T02:59:59.5', 'today 02:30'])
      for (const edge of ['since', 'until'] as const)
        expect(read(text, Date.parse('2026-03-29T12:00:00Z'), edge), text).toBe('2026-03-29T01:00:00.000Z');
  });

  it.each(['tomorrow', '24:00', '1w', '1h ago', '2026-13-01', '2026', '--2h', '', '\u001b[2J'])(
    'is not %j',
    (text) => {
      expect(read(text)).toBeNull();
    },
  );
});

it('a day begins and ends by the clock of the zone', () => {
  const hours = (text: string, nowMs: number) => {
    const day = typedDay(text, BERLIN, nowMs);
    return day === null ? null : (day.toMs - day.fromMs) / 3_600_000;
  };
  expect(hours('today', Date.parse('2026-03-29T12:00:00Z'))).toBe(23);
  expect(hours('yesterday', Date.parse('2026-10-26T12:00:00Z'))).toBe(25);
  expect(hours('2026-02-30', NOW)).toBeNull();
  expect(hours('10:00', NOW)).toBeNull();
});
