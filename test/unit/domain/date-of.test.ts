import { expect, it } from 'vitest';
import { dated } from '../../../src/domain/date-of.ts';

it('turns times into Dates, keeps missing ones, and leaves durations and all else alone', () => {
  const row = {
    id: 7,
    atMs: 0,
    firedAtMs: 1_000,
    resolvedAtMs: null,
    sinceMs: 2_000,
    untilMs: 3_000,
    cutoffMs: 4_000,
    durationMs: 40,
    flatMs: 50,
    reason: 'x',
  };
  expect(dated(row)).toEqual({
    id: 7,
    at: new Date(0),
    firedAt: new Date(1_000),
    resolvedAt: null,
    since: new Date(2_000),
    until: new Date(3_000),
    cutoff: new Date(4_000),
    durationMs: 40,
    flatMs: 50,
    reason: 'x',
  });
});
