// The concurrency recommended for a response time, at the borders of its ranges.
import { describe, expect, it } from 'vitest';
import { recommendedConcurrency } from '../../../../src/domain/limits/operator-limits.ts';

describe('recommendedConcurrency', () => {
  it.each([
    [99, { min: 100, max: 200 }],
    [100, { min: 50, max: 100 }],
    [500, { min: 50, max: 100 }],
    [501, { min: 20, max: 50 }],
  ])('for %d ms is %o', (responseMs, range) => {
    expect(recommendedConcurrency(responseMs)).toEqual(range);
  });
});
