// Names and reasons: what may not be in them, and what must be possible.
import { expect, it } from 'vitest';
import { ONE_LINE } from '../../../src/domain/plain-text.ts';

it('refuses what steers a terminal, breaks the line or changes the direction', () => {
  for (const code of [0x00, 0x07, 0x0a, 0x1b, 0x7f, 0x9b, 0x200e, 0x202e, 0x2028, 0x2029, 0x2066, 0xd800])
    expect([code, ONE_LINE.test(`a${String.fromCharCode(code)}b`)]).toEqual([code, false]);
});

it('takes every script, joiners included', () => {
  for (const text of ['', '每小时', 'می\u200cخواهم', '👩\u200d🔧', 'Größe <1>'])
    expect(ONE_LINE.test(text)).toBe(true);
});
