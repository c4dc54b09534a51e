import { describe, expect, it } from 'vitest';
import { Zone } from '../../../../src/log-search/time/zone.ts';

const HOUR_MS = 3_600_000;
const hours = (zone: string, year: number, month: number, day: number) => {
  const span = new Zone(zone).dayOf(year, month, day);
  return span === null ? null : (span.toMs - span.fromMs) / HOUR_MS;
};

describe('a day', () => {
  it('begins at the zone’s midnight', () => {
    expect(new Zone('Asia/Shanghai').dayOf(2026, 2, 1)?.fromMs).toBe(Date.parse('2026-01-31T16:00:00Z'));
    expect(new Zone('+05:45').dayOf(2026, 2, 1)?.fromMs).toBe(Date.parse('2026-01-31T18:15:00Z'));
  });

  it('is shorter or longer when the clocks change', () => {
    expect(hours('Europe/Berlin', 2026, 3, 29)).toBe(23);
    expect(hours('Europe/Berlin', 2026, 10, 25)).toBe(25);
    expect(hours('America/Santiago', 2026, 9, 6)).toBe(23);
    expect(hours('UTC', 2026, 3, 29)).toBe(24);
  });

  it('must exist', () => {
    expect(hours('UTC', 2026, 2, 29)).toBe(null);
    expect(hours('UTC', 2028, 2, 29)).toBe(24);
  });
});

describe('wall-clock time', () => {
  const berlin = new Zone('Europe/Berlin');
  const wall = (text: string) => new Date(berlin.instantsOf(Date.parse(`${text}Z`)).ms).toISOString();

  it('wall-clock time that comes twice is its first occurrence', () => {
    expect(wall('2026-10-25T02:30:00')).toBe('2026-10-25T00:30:00.000Z');
  });

  it('wall-clock time that never comes is read with the offset before', () => {
    expect(wall('2026-03-29T02:30:00')).toBe('2026-03-29T01:30:00.000Z');
  });
});

describe('names', () => {
  it('may be offsets', () => {
    expect(new Zone('+0800').format(0)).toBe('1970-01-01T08:00:00+08:00');
    expect(new Zone('UTC').format(1_500)).toBe('1970-01-01T00:00:01.500+00:00');
  });

  it('must be known', () => {
    expect(() => new Zone('Mars/Olympus')).toThrow(/not a time zone/);
  });
});

describe('a time that occurs twice', () => {
  it.each([
    ['America/New_York', '2026-11-01T01:30:00', '2026-11-01T05:30:00.000Z', 60],
    ['Australia/Lord_Howe', '2026-04-05T01:45:00', '2026-04-04T14:45:00.000Z', 30],
  ])('in %s has two instants', (name, wall, first, minutes) => {
    const zone = new Zone(name);
    const { ms, againMs } = zone.instantsOf(Date.parse(`${wall}Z`));
    expect(new Date(ms).toISOString()).toBe(first);
    expect(againMs).toBe(ms + minutes * 60_000);
    expect(zone.latest(ms)).toBe(againMs);
  });

  it.each(['2026-11-01T00:59:59', '2026-11-01T02:00:00', '2026-03-08T02:30:00', '2026-07-01T12:00:00'])(
    'is not %s in New York',
    (wall) => {
      const zone = new Zone('America/New_York');
      const { ms, againMs } = zone.instantsOf(Date.parse(`${wall}Z`));
      expect(againMs).toBe(null);
      expect(zone.latest(ms)).toBe(ms);
    },
  );
});
