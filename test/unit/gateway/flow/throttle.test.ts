// When calls to an interface are held back, and how they return. Which calls count for which interface: flow-control.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import { mix32 } from '../../../../src/domain/schedule/phase.ts';
import { Throttle } from '../../../../src/gateway/flow/throttle.ts';
import { GatewayError, type GatewayFailure } from '../../../../src/gateway/gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const NO_SUCCESS_MS = 10_000;

let clock: FakeClock;
let changes: string[];
let chance: number;
let throttle: Throttle;

beforeEach(() => {
  clock = new FakeClock();
  [changes, chance] = [[], 0];
  throttle = new Throttle({
    clock,
    random: () => chance,
    onChange: (state, reason) => changes.push(`${state}: ${reason}`),
  });
});

function succeed(times: number): void {
  for (let i = 0; i < times; i += 1) throttle.record(null);
}

function fail(times: number, failure: GatewayFailure = 'http'): void {
  for (let i = 0; i < times; i += 1) throttle.record(new GatewayError(failure, 'HTTP 500'));
}

/** A throttle that holds nothing back, and then finds its interface dead. */
function die(failure: GatewayFailure = 'http'): void {
  succeed(12);
  clock.advance(NO_SUCCESS_MS);
  fail(30, failure);
}

describe('an instance that has just started', () => {
  it('may have ten calls in flight, and fifty more for each success up to the twelfth', () => {
    expect(throttle.permit(0)).toEqual({ calls: 10, trickle: false });
    expect(throttle.permit(10).calls).toBe(0);
    expect(throttle.permit(11).calls).toBe(0);
    succeed(1);
    expect(throttle.permit(10).calls).toBe(50);
    succeed(10);
    expect(throttle.permit(0).calls).toBe(560);
    succeed(1);
    expect(throttle.permit(100_000).calls).toBe(Number.POSITIVE_INFINITY);
    expect(changes).toEqual([]);
  });

  it('opens after thirty failures in a row, however quickly they come', () => {
    fail(29);
    expect(throttle.state).toBe('closed');
    fail(1);
    expect(throttle.state).toBe('open');
  });

  it('has made no call', () => {
    expect(throttle.isUsed).toBe(false);
    fail(1);
    expect(throttle.isUsed).toBe(true);
    expect(throttle.lastFailure).toMatchObject({ failure: 'http' });
  });
});

describe('a closed throttle', () => {
  it('opens when thirty calls in a row failed and none succeeded for ten seconds', () => {
    succeed(12);
    fail(100);
    clock.advance(NO_SUCCESS_MS - 1);
    fail(1);
    expect(throttle.state).toBe('closed');
    clock.advance(1);
    fail(1);
    expect(changes).toEqual([
      'open: 102 calls in a row failed, the last with: HTTP 500; one call a second passes',
    ]);
    expect(throttle.report('flow')).toMatchObject({ interface: 'flow', state: 'open', sinceMs: clock.now() });
  });

  it('does not open for fewer failures, however long nothing succeeds', () => {
    succeed(12);
    clock.advance(3_600_000);
    fail(29);
    expect(throttle.state).toBe('closed');
  });

  it('does not open for a card that is at fault, nor for calls that were not made', () => {
    succeed(12);
    clock.advance(NO_SUCCESS_MS);
    fail(29);
    for (const failure of ['aborted', 'held', 'not_offered'] as const) fail(30, failure);
    expect(throttle.state).toBe('closed');
    fail(1, 'business');
    fail(29);
    expect(throttle.state).toBe('closed');
  });

  it.each([50, 90])('stays closed while %i % of 20 calls a second fail', (percent) => {
    let seed = 7;
    succeed(12);
    for (let call = 0; call < 20_000; call += 1) {
      clock.advance(50);
      seed = mix32(seed + 0x9e3779b9);
      if (seed % 100 < percent) fail(1);
      else succeed(1);
      expect(throttle.state).toBe('closed');
    }
  });
});

describe('an open throttle', () => {
  it('lets one call a second pass, and up to half as many fewer', () => {
    die();
    expect(throttle.permit(500)).toEqual({ calls: 1, trickle: true });
    clock.advance(999);
    expect(throttle.permit(0)).toEqual({ calls: 0, trickle: false });
    clock.advance(1);
    chance = 1;
    expect(throttle.permit(0).calls).toBe(1);
    clock.advance(1_499);
    expect(throttle.permit(0).calls).toBe(0);
    expect(throttle.report('flow').nextProbeAtMs).toBe(clock.now() + 1);
    clock.advance(1);
    expect(throttle.permit(0).calls).toBe(1);
  });

  it('lets the next call pass at once when the last one found no card', () => {
    die();
    throttle.permit(0);
    throttle.giveBack();
    expect(throttle.permit(0)).toEqual({ calls: 1, trickle: true });
    expect(throttle.permit(0)).toEqual({ calls: 0, trickle: false });
  });

  it('is half open with a success: fifty calls in flight for each, and closed with the twelfth', () => {
    die();
    succeed(1);
    expect(throttle.state).toBe('half_open');
    expect(throttle.report('flow')).toMatchObject({
      state: 'half_open',
      reason: 'calls succeed again: their number grows with each success',
      nextProbeAtMs: null,
    });
    expect(throttle.permit(20)).toEqual({ calls: 30, trickle: false });
    succeed(10);
    expect(throttle.state).toBe('half_open');
    succeed(1);
    expect(throttle.report('flow')).toMatchObject({ state: 'closed', reason: null, sinceMs: clock.now() });
    expect(throttle.permit(0).calls).toBe(Number.POSITIVE_INFINITY);
  });

  it('opens again from half open after thirty failures in a row, and that is one outage', () => {
    die();
    const since = clock.now();
    clock.advance(5_000);
    succeed(3);
    fail(29);
    expect(throttle.state).toBe('half_open');
    fail(1);
    expect(throttle.report('flow')).toMatchObject({ state: 'open', sinceMs: since });
    succeed(1);
    expect(throttle.permit(0).calls, 'it grows from nothing').toBe(50);
    expect(changes.map((change) => change.split(':')[0])).toEqual(['open', 'half_open', 'open', 'half_open']);
  });

  it('refuses all when its last ten answers were refusals', () => {
    succeed(12);
    fail(30, 'backpressure');
    expect(throttle.refusesAll, 'it is closed').toBe(false);
    clock.advance(NO_SUCCESS_MS);
    fail(1, 'http');
    expect(throttle.state).toBe('open');
    fail(9, 'backpressure');
    expect(throttle.refusesAll).toBe(false);
    fail(1, 'backpressure');
    expect(throttle.refusesAll).toBe(true);
    succeed(1);
    expect(throttle.refusesAll).toBe(false);
  });
});
