import { expect, it } from 'vitest';
import { type FleetTick, pooled } from '../../../../src/domain/limits/fleet-tick.ts';

const TICK: FleetTick = {
  seconds: 1,
  succeeded: 20,
  failed: 3,
  durationMs: 700,
  succeededMs: 400,
  backpressure: 2,
  timeouts: 1,
  limitReached: false,
};

it('two ticks are one longer tick', () => {
  const other = {
    seconds: 2,
    succeeded: 7,
    failed: 5,
    durationMs: 150,
    succeededMs: 100,
    backpressure: 4,
    timeouts: 1,
  };
  expect(pooled(TICK, { ...other, limitReached: false })).toEqual({
    seconds: 3,
    succeeded: 27,
    failed: 8,
    durationMs: 850,
    succeededMs: 500,
    backpressure: 6,
    timeouts: 2,
    limitReached: false,
  });
  expect(pooled(null, TICK)).toBe(TICK);
});

it('the limit was reached in it when it was in one of them', () => {
  const reached = { ...TICK, limitReached: true };
  expect([pooled(TICK, reached), pooled(reached, TICK)]).toMatchObject([
    { limitReached: true },
    { limitReached: true },
  ]);
});
