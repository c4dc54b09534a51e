// Units of data volume.
import { expect, it } from 'vitest';
import { DATA_UNITS, megabytes } from '../../../../src/domain/gateway/data-unit.ts';

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
