// finderOf against Buffer.indexOf: needles of every length, alone and together, at every border.
import { describe, expect, it } from 'vitest';
import { finderOf } from '../../../../src/log-search/match/find-bytes.ts';
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

/** Part of a larger buffer, as blocks of a file are; some of the needles are in it, and may be cut off at its end. */
function haystackWith(needles: readonly Buffer[]): Buffer {
  const start = below(40);
  const haystack = Buffer.alloc(500, digits(997)).subarray(start, start + below(400));
  for (let copies = below(4); copies > 0; copies -= 1) {
    const needle = needles[below(needles.length)] ?? Buffer.of();
    const at = below(haystack.length);
    needle.subarray(0, haystack.length - at).copy(haystack, at);
  }
  return haystack;
}

function firstOf(haystack: Buffer, needles: readonly Buffer[], from: number): number {
  const found = needles.map((needle) => haystack.indexOf(needle, from)).filter((at) => at !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

describe('finderOf', () => {
  const lengths = Array.from({ length: 64 }, (_, index) => index + 1);
  it.each(
    lengths.flatMap((length) => [[[length]], [[length, below(40) + 1]], [[length, length + 4, length + 4]]]),
  )('finds needles of %j bytes where Buffer.indexOf finds the first of them', (together) => {
    for (let round = 0; round < 8; round += 1) {
      const needles = together.map((length) => Buffer.from(digits(length)));
      const find = finderOf(needles);
      for (let haystacks = 0; haystacks < 3; haystacks += 1) {
        const haystack = haystackWith(needles);
        const expected = everyIndex((from) => firstOf(haystack, needles, from));
        expect(everyIndex((from) => find(haystack, from))).toEqual(expected);
        // From the beginning again, in the same buffer.
        expect(everyIndex((from) => find(haystack, from))).toEqual(expected);
      }
    }
  });

  it('finds a needle at the end of a block, and none that the block cuts off', () => {
    const block = Buffer.alloc(100_000, '.');
    const needle = Buffer.from('8986001234567890123');
    const find = finderOf([needle]);
    const last = block.length - needle.length;
    needle.copy(block, last);
    expect(find(block, 0)).toBe(last);
    expect(find(block, last)).toBe(last);
    expect(find(block, last + 1)).toBe(-1);
    expect(find(block.subarray(0, -1), 0)).toBe(-1);
    expect(find(block.subarray(5), 0)).toBe(last - 5);
    expect(find(block.subarray(0, 3), 0)).toBe(-1);
    expect(find(Buffer.of(), 0)).toBe(-1);
  });

  it('finds nothing when there is nothing to find', () => {
    expect(finderOf([])(Buffer.from('123'), 0)).toBe(-1);
  });
});
