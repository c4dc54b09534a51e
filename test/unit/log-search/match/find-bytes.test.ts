// Finding in the search room against Buffer.indexOf: every length of needle, every border.
import { describe, expect, it } from 'vitest';
import { indexOfBytes, scanBuffer } from '../../../../src/log-search/match/find-bytes.ts';
import { seededRandom } from '../../../support/gzip-damage.ts';

const random = seededRandom(Number(process.env.FUZZ_SEED ?? 11));
const below = (limit: number) => Math.floor(random() * limit);
/** Few digits, so that beginnings of the needle are everywhere. */
const digits = (length: number) => Array.from({ length }, () => '123'[below(3)]).join('');

function everyIndex(find: (from: number) => number): number[] {
  const found: number[] = [];
  for (let at = find(0); at !== -1; at = find(at + 1)) found.push(at);
  return found;
}

describe('indexOfBytes', () => {
  it.each(Array.from({ length: 64 }, (_, index) => index + 1))('a needle of %i bytes', (length) => {
    const room = scanBuffer();
    for (let round = 0; round < 50; round += 1) {
      const needle = Buffer.from(digits(length));
      const start = below(40);
      const haystack = room.subarray(start, start + below(400));
      haystack.fill(digits(997));
      for (let copies = below(4); copies > 0; copies -= 1) {
        const at = below(haystack.length);
        needle.subarray(0, haystack.length - at).copy(haystack, at);
      }
      const expected = everyIndex((from) => haystack.indexOf(needle, from));
      expect(everyIndex((from) => indexOfBytes(haystack, needle, from))).toEqual(expected);
    }
  });

  it('sees the whole room and nothing behind the haystack', () => {
    const room = scanBuffer();
    room.fill('.');
    const needle = Buffer.from('8986001234567890123');
    const last = room.length - needle.length;
    needle.copy(room, last);
    expect(indexOfBytes(room, needle, 0)).toBe(last);
    expect(indexOfBytes(room, needle, last)).toBe(last);
    expect(indexOfBytes(room, needle, last + 1)).toBe(-1);
    expect(indexOfBytes(room.subarray(0, -1), needle, 0)).toBe(-1);
    expect(indexOfBytes(room.subarray(5), needle, 0)).toBe(last - 5);
    expect(indexOfBytes(room.subarray(0, 3), needle, 0)).toBe(-1);
    expect(indexOfBytes(room.subarray(0, 0), needle, 0)).toBe(-1);
  });

  it('works outside the room too, and with needles too long for it', () => {
    const elsewhere = Buffer.from('a card 8986001234567890123');
    expect(indexOfBytes(elsewhere, Buffer.from('8986001234567890123'), 3)).toBe(7);
    const long = Buffer.alloc(300, '7');
    scanBuffer().fill('7', 10, 310).fill('.', 310, 600);
    expect(indexOfBytes(scanBuffer(), long, 0)).toBe(scanBuffer().indexOf(long));
  });
});
