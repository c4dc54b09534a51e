import { describe, expect, it } from 'vitest';
import { CLEANUP } from '../../../../src/config/settings/cleanup-settings.ts';

describe('a schedule', () => {
  it.each(['30 3 * * *', '*/10 * * * * *', '0 4 * * SUN', 'off'])('may be %j', (text) => {
    expect(CLEANUP.schedule.kind.parse(` ${text} `)).toEqual(text);
  });

  it('is off where YAML says off without quotes', () => {
    expect(CLEANUP.schedule.kind.parse(false)).toEqual('off');
  });

  it.each([
    ['daily', 'five or six'],
    ['61 3 * * *', 'minute'],
    ['0 0 31 2 *', 'it never matches a date'],
    ['', 'five or six'],
    [true, 'five or six'],
  ])('may not be %j', (raw, reason) => {
    expect(() => CLEANUP.schedule.kind.parse(raw)).toThrow(reason);
  });
});
