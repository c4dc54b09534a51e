import { describe, expect, it } from 'vitest';
import { requireWithin } from '../../../src/operations/requirements.ts';

const BOUNDS = { min: 1, max: 100 };

describe('requireWithin', () => {
  it('accepts both ends', () => {
    expect(() => requireWithin(BOUNDS, { first: 1, last: 100 })).not.toThrow();
  });

  it.each([0, 101, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d by name', (value) => {
    expect(() => requireWithin(BOUNDS, { good: 5, intervalSeconds: value })).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'invalid_field',
        message: 'a value is out of bounds',
        fields: [{ field: 'intervalSeconds', message: 'must be a whole number from 1 to 100' }],
      }),
    );
  });
});
