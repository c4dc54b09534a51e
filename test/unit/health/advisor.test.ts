// The one advisor: the table of the operations interface, section 8, and the measured curve, and no higher limit where the gateway is the cause.
import { expect, it } from 'vitest';
import type { CurvePoint } from '../../../src/domain/limits/concurrency-curve.ts';
import { type AdviceInputs, adviceOn } from '../../../src/health/advisor.ts';
import { capacityOf } from '../../../src/health/capacity.ts';

interface Fleet {
  readonly demand: number;
  readonly callMs: number | null;
  readonly limit?: number;
  readonly inForce?: number;
  readonly allowed?: number | null;
  readonly heldBy?: string | null;
}

function advice(fleet: Fleet, over: Partial<AdviceInputs> = {}) {
  const { demand, callMs, limit = 100, inForce = limit, allowed = null, heldBy = null } = fleet;
  const capacity = capacityOf({
    ...{ demandPerSecond: demand, owedCards: 1_000, effectiveConcurrency: inForce },
    ...{ callMs, heldBy, allowedPerSecond: allowed },
  });
  return adviceOn({
    ...{ taskType: 'realname', capacity, callMs, maxConcurrency: limit, effectiveConcurrency: inForce },
    ...{ limitReason: null, isTrying: false, slowness: null, curve: [] },
    ...over,
  });
}

const level = (concurrency: number, ratePerSecond: number): CurvePoint => ({
  ...{ concurrency, ratePerSecond, avgDurationMs: 100, backpressurePercent: 0, atMs: 0 },
});

it('raises a limit that does not meet the demand, by the smallest that does and leaves a tenth to spare', () => {
  expect(advice({ demand: 1_600, callMs: 100 })).toMatchObject({
    verdict: 'raise',
    maxConcurrency: 176,
    recommended: { min: 50, max: 100 },
    remedy: expect.stringMatching(/^raise the limit of realname to 176, .* 1\.8 /),
    why: expect.stringContaining('1600 polls a second need 176, 50 to 100 are recommended at 0.10 s a call'),
  });
  expect(advice({ demand: 1_600, callMs: 100, limit: 176 })).toMatchObject({ verdict: 'keep', remedy: null });
});

it('goes no further at once than twice the limit or the table', () => {
  const far = advice({ demand: 8_000, callMs: 100 });
  expect(far).toMatchObject({ verdict: 'raise', maxConcurrency: 200 });
  expect(far.why).toContain('880 would meet the demand: look again at 200');
  expect(advice({ demand: 80_000, callMs: 20, limit: 5 }).maxConcurrency).toBe(200);
  expect(advice({ demand: 1e7, callMs: 100, limit: 90_000 }).maxConcurrency).toBe(100_000);
});

it.each([
  ['slow', { slowness: { nowMs: 3_000, usualMs: 20, slowFromMs: null } }, {}],
  [
    'slow, with a limit lowered by hand',
    { slowness: { nowMs: 3_000, usualMs: 20, slowFromMs: null } },
    { limit: 5 },
  ],
  ['refusing load', { limitReason: '12 % of the calls were refused' }, { inForce: 40 }],
])('never raises where the gateway is the cause: %s', (_, over, fleet) => {
  const { verdict, maxConcurrency, remedy, why } = advice({ demand: 200, callMs: 3_000, ...fleet }, over);
  expect([verdict, maxConcurrency]).toEqual(['keep', 'limit' in fleet ? fleet.limit : 100]);
  expect(remedy).not.toContain('raise');
  expect(why).toMatch(/the gateway is the cause: 3.0 s a call, usually 0.02 s|40 of 100 are in force: 12 %/);
});

it('does not advise to poll less often because a trial keeps the limit low', () => {
  const limitReason = 'testing whether fewer calls help';
  const trial = (demand: number) =>
    advice({ demand, callMs: 100, inForce: 60 }, { isTrying: true, limitReason }).remedy;
  expect(trial(800)).toBeNull();
  expect(trial(1_600), 'too much without the trial, too').toMatch(/^poll realname 1\.8 /);
  expect(advice({ demand: 800, callMs: 100, inForce: 60 }, { limitReason }).remedy).toMatch(
    /^poll realname /,
  );
});

it('keeps a limit whose curve is flat: more would gain nothing', () => {
  const flat = [level(50, 450), level(100, 460)];
  expect(advice({ demand: 1_600, callMs: 100 }, { curve: flat })).toMatchObject({
    verdict: 'keep',
    remedy: expect.stringMatching(/^poll realname 1\.8 /),
    why: expect.stringContaining('more than 50 gains nothing'),
  });
  const growing = [level(50, 450), level(100, 900)];
  expect(advice({ demand: 1_600, callMs: 100 }, { curve: growing })).toMatchObject({
    verdict: 'raise',
    why: expect.stringContaining('measured up to 900/s in 100 ms at 100: the rate still grew'),
  });
});

it('follows the table where the demand is met, unless more was measured to be right', () => {
  expect(advice({ demand: 1, callMs: 3_000 })).toMatchObject({ verdict: 'lower', maxConcurrency: 50 });
  expect(advice({ demand: 100, callMs: 20, limit: 50 })).toMatchObject({
    verdict: 'raise',
    maxConcurrency: 100,
  });
  expect(advice({ demand: 1_700, callMs: 100, limit: 192 })).toMatchObject({ verdict: 'keep' });
  const wide = { demand: 1_700, callMs: 100, limit: 300 };
  expect(advice(wide)).toMatchObject({ verdict: 'lower', maxConcurrency: 187 });
  const growing = [level(100, 900), level(300, 2_700)];
  expect(advice(wide, { curve: growing })).toMatchObject({ verdict: 'keep' });
});

it('agrees with itself after it was obeyed', () => {
  for (const demand of [10, 100, 1_000, 2_000])
    for (const callMs of [5, 60, 120, 480, 900])
      for (const limit of [20, 100, 300]) {
        let at = limit;
        for (let i = 0; i < 12; i += 1) at = advice({ demand, callMs, limit: at }).maxConcurrency;
        expect(advice({ demand, callMs, limit: at }).maxConcurrency).toBe(at);
      }
});

it('advises nothing where the rate limits are the bound, or nothing is known', () => {
  expect(advice({ demand: 50, callMs: 100, limit: 60, allowed: 10 })).toMatchObject({
    verdict: 'keep',
    remedy: expect.stringMatching(/^poll realname 5\.5 /),
  });
  expect(advice({ demand: 50, callMs: null })).toMatchObject({
    verdict: 'unknown',
    recommended: null,
    remedy: null,
  });
  expect(advice({ demand: 50, callMs: 100, heldBy: 'polling is paused' }).why).toBe('polling is paused');
});

it.each([
  [99, 100, 200],
  [100, 50, 100],
  [500, 50, 100],
  [501, 20, 50],
])('recommends for %i ms a call %i to %i', (callMs, min, max) => {
  expect(advice({ demand: 1, callMs }).recommended).toEqual({ min, max });
});
