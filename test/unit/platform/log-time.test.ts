import { afterEach, describe, expect, it } from 'vitest';
import { logTimeFormatter } from '../../../src/platform/logger.ts';

const zoneBefore = process.env.TZ;
const inZone = (zone: string) => {
  process.env.TZ = zone;
  return logTimeFormatter();
};
afterEach(() => {
  if (zoneBefore === undefined) delete process.env.TZ;
  else process.env.TZ = zoneBefore;
});

describe('logTimeFormatter', () => {
  const instant = Date.UTC(2026, 10, 21, 1, 30, 15, 7);

  it.each([
    ['UTC', '2026-11-21T01:30:15.007+00:00'],
    ['Asia/Shanghai', '2026-11-21T09:30:15.007+08:00'],
    ['America/St_Johns', '2026-11-20T22:00:15.007-03:30'],
    ['Asia/Kathmandu', '2026-11-21T07:15:15.007+05:45'],
  ])('writes the offset of %s', (zone, expected) => {
    expect(inZone(zone)(instant)).toBe(expected);
  });

  it('names the same instant as the Date it came from, across seconds, midnight and a change of offset', () => {
    const format = inZone('Europe/Berlin');
    const autumn = Date.UTC(2026, 9, 25, 0, 59, 58, 0);
    for (let at = autumn; at < autumn + 5_000; at += 137) expect(Date.parse(format(at))).toBe(at);
    expect(format(Date.UTC(2026, 9, 25, 0, 59, 59))).toBe('2026-10-25T02:59:59.000+02:00');
    expect(format(Date.UTC(2026, 9, 25, 1, 0, 0))).toBe('2026-10-25T02:00:00.000+01:00');
    expect(format(autumn - 1)).toBe('2026-10-25T02:59:57.999+02:00');
  });
});
