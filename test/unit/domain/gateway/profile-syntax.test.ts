// Places in an answer, and units of data volume.
import { expect, it } from 'vitest';
import {
  DATA_UNITS,
  megabytes,
  parseValuePath,
  valueAt,
} from '../../../../src/domain/gateway/profile-syntax.ts';

it.each([
  ['used', ['used']],
  ['data.used', ['data', 'used']],
  ['data.list[0].used', ['data', 'list', 0, 'used']],
  ['[2]', [2]],
  ['.', []],
  ['[2].a', [2, 'a']],
  ['a[0][1]', ['a', 0, 1]],
  ['套餐.已用', ['套餐', '已用']],
  ['a-b.c_d', ['a-b', 'c_d']],
])('reads %s', (text, steps) => {
  expect(parseValuePath(text)).toEqual(steps);
});

it.each(['', 'a.', '.a', 'a..b', 'a[', 'a[]', 'a[x]', 'a[-1]', 'a b', 'a[0]b', 'a.[0]', '[0]a'])(
  'refuses %j',
  (text) => {
    expect(parseValuePath(text)).toBeNull();
  },
);

it('finds what is there, and nothing else', () => {
  const body = { a: { list: [{ b: 1 }, null], text: 'xyz' }, zero: 0, nothing: null };
  const at = (text: string) => valueAt(body, parseValuePath(text) ?? []);
  expect([at('a.list[0].b'), at('zero'), at('nothing')]).toEqual([1, 0, null]);
  for (const absent of [
    'b',
    'a.c',
    'a.list[2]',
    'a.list[1].b',
    'nothing.a',
    'a.text.length',
    'a.text[0]',
    'a.list.length',
    'constructor',
    'a[0]',
  ]) {
    expect(at(absent), absent).toBe(absent === 'a.list.length' ? 2 : undefined);
  }
  expect(valueAt([7], [0])).toBe(7);
  expect(valueAt(null, ['a'])).toBeUndefined();
});

it.each([
  [12.5, 'MB', 12.5],
  [1_500_000, 'bytes', 1.5],
  [1, 'bytes', 0.000001],
  [300, 'KB', 0.3],
  [1.5, 'GB', 1_500],
  [1_000, 'KiB', 1.024],
  [1, 'MiB', 1.048576],
  [2, 'GiB', 2_147.483648],
] as const)('%d %s are %d MB', (value, unit, expected) => {
  expect(megabytes(value, unit)).toBe(expected);
});

it('keeps nothing at nothing', () => {
  for (const unit of DATA_UNITS) expect(megabytes(0, unit)).toBe(0);
});
