import { describe, expect, it } from 'vitest';
import { formatMark, newWindow, parseMark } from '../../../../../src/store/sql/cards/card-changes.ts';

describe('change marks', () => {
  it('starts a window at the xmin of the lower snapshot', () => {
    expect(newWindow('10:20:12,15', '30:30:')).toEqual({
      lower: '10:20:12,15',
      upper: '30:30:',
      changedAfter: { xid: '10', cardId: 0 },
      removedAfter: { xid: '10', cardId: 0 },
    });
  });

  it('survives a round trip within a window', () => {
    const window = {
      lower: '10:20:12,15',
      upper: '30:31:30',
      changedAfter: { xid: '18446744073709551615', cardId: Number.MAX_SAFE_INTEGER },
      removedAfter: null,
    };
    const mark = formatMark(window);
    expect(mark).toBe('10:20:12,15/30:31:30/18446744073709551615.9007199254740991/-');
    expect(parseMark(mark)).toEqual({ lower: '10:20:12,15', window });
  });

  it('is the upper snapshot once both lists are finished', () => {
    const mark = formatMark({ ...newWindow('10:10:', '20:20:'), changedAfter: null, removedAfter: null });
    expect(mark).toBe('20:20:');
    expect(parseMark(mark)).toEqual({ lower: '20:20:', window: null });
  });

  it.each(['', '1', '1:2', '1:2:/', '1:2:/3:4:/1.2', '1:2:/3:4:/1.2/-/-', '1:2:/3:4:/-1.2/-', "1:2:';"])(
    'refuses %j',
    (mark) => {
      expect(() => parseMark(mark)).toThrow(
        expect.objectContaining({ kind: 'invalid', code: 'bad_change_mark' }),
      );
    },
  );
});
