import { expect, it } from 'vitest';
import { USAGE } from '../../../../src/config/settings/polling-settings.ts';

const { kind } = USAGE.jumpFactor;

it('takes a factor from 2 to 1000, or off', () => {
  expect(['2', '20', '1000', 12.5, 'off', false].map((raw) => kind.parse(raw))).toEqual([
    ...[2, 20, 1_000, 12.5],
    ...['off', 'off'],
  ]);
});

it.each([
  ['0', /^must be at least 2: growth/],
  ['1', /^must be at least 2: growth/],
  ['-1', /^must be at least 2: growth/],
  ['1e9', /^must be at most 1000, or KB/],
  ['many', /^"many" is not a number, 2 to 1000$/],
])('says why %s is no factor of a jump', (raw, why) => {
  expect(() => kind.parse(raw)).toThrow(why);
});
