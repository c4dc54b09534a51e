import { describe, expect, it } from 'vitest';
import { CLEANUP } from '../../../../src/config/settings/cleanup-settings.ts';

describe('a schedule', () => {
  it.each(['30 3 * * *', '*/10 * * * * *', '0 4 * * SUN', '5-59/10 * * * *', 'off'])('may be %j', (text) => {
    expect(CLEANUP.schedule.kind.parse(` ${text} `)).toEqual(text);
  });

  it('is off where YAML says off without quotes', () => {
    expect(CLEANUP.schedule.kind.parse(false)).toEqual('off');
  });

  it.each([
    ['daily', 'five, six, or seven'],
    ['61 3 * * *', 'minute'],
    ['5/10 * * * *', 'Use wildcard (*/step) or range (min-max/step)'],
    ['0 /6 * * *', 'Use wildcard (*/step) or range (min-max/step)'],
    ['0 0 31 2 *', 'it never matches a date'],
    ['', 'five, six, or seven'],
    [true, 'five, six, or seven'],
  ])('may not be %j', (raw, reason) => {
    expect(() => CLEANUP.schedule.kind.parse(raw)).toThrow(reason);
  });
});
