import { describe, expect, it } from 'vitest';
import { formatMark, parseMark } from '../../../../../src/store/sql/client/change-mark.ts';

describe('change marks', () => {
  it('survive a round trip within a window', () => {
    const window = {
      lower: '10:20:12,15',
      upper: '30:31:30',
      changedAfter: '18446744073709551615.9007199254740991',
      removedAfter: '-',
    };
    const mark = formatMark(window);
    expect(mark).toBe('10:20:12,15/30:31:30/18446744073709551615.9007199254740991/-');
    expect(parseMark(mark)).toEqual(window);
  });

  it('are the upper snapshot once both lists are finished', () => {
    const finished = { lower: '10:10:', upper: '20:20:', changedAfter: '-', removedAfter: '-' };
    expect(formatMark(finished)).toBe('20:20:');
    expect(parseMark('20:20:')).toEqual({ ...finished, lower: '20:20:', upper: null });
  });

  it.each(['', '1', '1:2', '1:2:/', '1:2:/3:4:/1.2', '1:2:/3:4:/1.2/-/-', '1:2:/3:4:/-1.2/-', "1:2:';"])(
    'do not have the form %j',
    (mark) => {
      expect(() => parseMark(mark)).toThrow(
        expect.objectContaining({ kind: 'invalid', code: 'bad_change_mark' }),
      );
    },
  );
});
