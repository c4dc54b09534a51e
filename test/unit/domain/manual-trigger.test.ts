// Entries of the manual list, those of triggers and those somebody typed.
import { describe, expect, it } from 'vitest';
import { cardIdOf, manualEntry, triggerIdOf } from '../../../src/domain/manual-trigger.ts';

describe('entries', () => {
  it('entries have their card and trigger', () => {
    const entry = manualEntry(9_007_199_254_740_991, '5f0c2a9be17d4c33');
    expect([cardIdOf(entry), triggerIdOf(entry)]).toEqual([9_007_199_254_740_991, '5f0c2a9be17d4c33']);
    expect([cardIdOf('42'), triggerIdOf('42')]).toEqual([42, null]);
  });

  it.each([
    ['', 0, null],
    ['abc', 0, null],
    ['0', 0, null],
    ['-1', 0, null],
    ['1.5', 0, null],
    ['007', 0, null],
    ['9007199254740992', 0, null],
    ['abc:t', 0, 't'],
    ['5:', 5, null],
    ['5:a:b', 5, null],
    ['5:\u0000', 5, null],
    ['5: ', 5, null],
  ])('%j is card %d of trigger %j', (entry, cardId, triggerId) => {
    expect([cardIdOf(entry), triggerIdOf(entry)]).toEqual([cardId, triggerId]);
  });
});
