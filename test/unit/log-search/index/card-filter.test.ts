import { describe, expect, it } from 'vitest';
import {
  BLOCK_BYTES,
  CardFilterBuilder,
  isFilterable,
  maybeContains,
} from '../../../../src/log-search/index/card-filter.ts';
import { seededRandom } from '../../../support/gzip-damage.ts';

const random = seededRandom(5);
const digits = (length: number) => Array.from({ length }, () => Math.floor(random() * 10)).join('');
const CARDS = Array.from({ length: 20_000 }, (_, index) => `8986${digits(14 + (index % 5))}`);

function filterOf(lines: readonly string[]): Buffer {
  const builder = new CardFilterBuilder();
  for (const line of lines) builder.addLine(Buffer.from(line), 0, Buffer.byteLength(line));
  return builder.build();
}

function asked(filter: Buffer, card: string): boolean {
  return maybeContains(card, filter.length / BLOCK_BYTES, (block) =>
    filter.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES),
  );
}

describe('a filter of 20,000 cards', () => {
  const filter = filterOf(CARDS.map((card) => `{"card_id":7,"iccid":"${card}","x":"${digits(9)}"}`));

  it('never says absent of what is in it', () => {
    expect(filter.length / BLOCK_BYTES).toBeGreaterThan(5);
    expect(CARDS.filter((card) => !asked(filter, card))).toEqual([]);
    // Searched for without its check digit.
    const long = CARDS.filter(({ length }) => length === 20).map((card) => card.slice(0, 19));
    expect(long.filter((card) => !asked(filter, card))).toEqual([]);
  });

  it('says absent of nearly all else', () => {
    const others = Array.from({ length: 20_000 }, () => `8986${digits(15)}`);
    expect(others.filter((card) => asked(filter, card)).length).toBeLessThan(200);
  });

  it('says absent of nothing in a damaged block', () => {
    const damaged = Buffer.from(filter);
    for (let at = 100; at < damaged.length; at += BLOCK_BYTES) damaged[at] = (damaged[at] ?? 0) ^ 1;
    const others = Array.from({ length: 1_000 }, () => `8986${digits(15)}`);
    expect(others.every((card) => asked(damaged, card))).toBe(true);
    expect(asked(filter.subarray(0, 10), CARDS[0] ?? '')).toBe(true);
  });
});

it('an empty filter lacks every card', () => {
  expect(asked(filterOf(['no digits here', '12345678901234567', digits(23)]), `8986${digits(15)}`)).toBe(
    false,
  );
});

it('parts of ids and odd runs cannot be asked for', () => {
  expect([17, 18, 22, 23].map((length) => isFilterable(digits(length)))).toEqual([false, true, true, false]);
});
