import { expect, it } from 'vitest';
import { SeenNumbers } from '../../../../src/operations/cards/seen-numbers.ts';

const iccid = (n: number) => `8986${String(n).padStart(16, '0')}`;

it('knows every number that came before, dense or scattered', () => {
  const seen = new SeenNumbers();
  const numbers = [
    ...Array.from({ length: 30_000 }, (_, n) => iccid(n)),
    ...Array.from({ length: 1_000 }, (_, n) => iccid(n * 7_654_321 + 99_999)),
  ];
  expect(numbers.filter((digits) => seen.add(digits))).toEqual([]);
  expect(numbers.filter((digits) => !seen.add(digits))).toEqual([]);
});

it('separates numbers of different lengths', () => {
  const seen = new SeenNumbers();
  for (const digits of ['7', '07', '00007', '1000007', '01000007']) expect(seen.add(digits)).toBe(false);
  expect(seen.add('7')).toBe(true);
});

it('forgets what is beyond its bounds, and never says that a new number came before', () => {
  const seen = new SeenNumbers({ mostBitmaps: 1, mostLoose: 300 });
  const numbers = [
    ...Array.from({ length: 1_000 }, (_, n) => iccid(n)),
    ...Array.from({ length: 1_000 }, (_, n) => iccid(1e6 + n)),
  ];
  expect(numbers.filter((digits) => seen.add(digits))).toEqual([]);
  expect(numbers.slice(0, 1_000).filter((digits) => !seen.add(digits))).toEqual([]);
});

it('knows texts, too', () => {
  const seen = new SeenNumbers();
  const texts = ['HS-00042', 'HS-00043', 'HSx', 'hsx', '8 abc', 'abc00000', '9f2c', 'HS-0004é'];
  expect(texts.filter((text) => seen.add(text))).toEqual([]);
  expect(texts.filter((text) => !seen.add(text))).toEqual([]);
});
