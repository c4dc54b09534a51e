import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker, type BreakerPhase, type CallOutcome } from '../../../src/gateway/breaker.ts';
import { systemClock } from '../../../src/platform/clock.ts';

let nowMs: number;
let random: number;
let changes: Array<[BreakerPhase, string]>;
let breaker: Breaker;

beforeEach(() => {
  nowMs = 1_000_000;
  random = 0.5;
  changes = [];
  breaker = new Breaker({
    clock: { ...systemClock, now: () => nowMs, monotonic: () => nowMs },
    random: () => random,
    onChange: (phase, reason) => changes.push([phase, reason]),
  });
});

function report(outcome: CallOutcome, times = 1, failing = false): void {
  for (let i = 0; i < times; i += 1) breaker.record('flow', outcome, failing);
}

function phases(): BreakerPhase[] {
  return changes.map(([phase]) => phase);
}

/** What may start; the permit is given back unused. */
function allowance(inFlight = 0): number {
  const permit = breaker.permit(inFlight);
  permit.used(null);
  return permit.calls;
}

/** Sends the probe. */
function probe(): void {
  const permit = breaker.permit(0);
  expect(permit.calls).toBe(1);
  permit.used(1);
}

/** Opens the breaker and waits until a probe is due. */
function openAndWait(): void {
  report('fault', 20);
  nowMs += 5_000;
}

describe('closed', () => {
  it('holds nothing back', () => {
    report('ok', 1_000);
    expect(allowance(5_000)).toBe(Number.POSITIVE_INFINITY);
  });

  it('opens at 20 calls of which half are faults, and says why', () => {
    report('ok', 10);
    report('fault', 9);
    expect(allowance(0)).toBe(Number.POSITIVE_INFINITY);
    report('fault', 1);
    expect(allowance(0)).toBe(0);
    expect(changes).toEqual([['open', '10 of 20 calls in 10 s were gateway faults; next probe in 5000 ms']]);
  });

  it('stays closed below half, and with fewer than 20 calls', () => {
    report('fault', 19);
    report('ok', 21);
    report('fault', 1);
    expect(phases()).toEqual([]);
  });

  it('opens at 20 faults in a row, however many calls succeeded before', () => {
    report('ok', 10_000);
    report('fault', 19);
    report('ok', 1);
    report('fault', 19);
    expect(phases()).toEqual([]);
    report('fault', 1);
    expect(phases()).toEqual(['open']);
  });

  it('does not count what says nothing about the gateway', () => {
    report('fault', 10);
    report('nothing', 1_000);
    expect(phases()).toEqual([]);
    report('ok', 9);
    report('fault', 1);
    expect(phases()).toEqual(['open']);
  });

  it('forgets calls after ten seconds', () => {
    report('fault', 19);
    nowMs += 10_000;
    report('fault', 1);
    expect(phases()).toEqual([]);
    nowMs += 9_000;
    report('fault', 18);
    expect(phases()).toEqual([]);
    report('fault', 1);
    expect(phases()).toEqual(['open']);
  });

  it('forgets everything after a long silence', () => {
    report('fault', 19);
    nowMs += 3_600_000;
    report('fault', 19);
    expect(phases()).toEqual([]);
  });
});

describe('evidence', () => {
  it('is not what a card that was failing already does again', () => {
    report('ok', 20);
    report('fault', 1_000, true);
    expect(phases()).toEqual([]);
    report('fault', 20);
    expect(phases()).toEqual(['open']);
  });

  it('is any success', () => {
    report('fault', 19);
    report('ok', 20, true);
    report('fault', 1);
    expect(phases(), '20 of 40').toEqual(['open']);
    nowMs += 60_000;
    probe();
    report('ok', 1, true);
    expect(breaker.phase).toBe('slow_start');
  });
});

describe('open', () => {
  it('ignores late reports of calls that were under way', () => {
    report('fault', 20);
    report('ok', 100);
    report('fault', 100);
    nowMs += 4_999;
    expect(allowance(0)).toBe(0);
    expect(phases()).toEqual(['open']);
  });

  it('lasts 5 s, then twice as long after each failed probe, up to 15 s', () => {
    report('fault', 20);
    const durations: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      const openedAt = nowMs;
      while (allowance(0) === 0) nowMs += 100;
      durations.push(nowMs - openedAt);
      probe();
      report('fault');
    }
    expect(durations).toEqual([5_000, 10_000, 15_000, 15_000, 15_000, 15_000]);
  });

  it.each([
    [0, 4_000],
    [0.999_999, 6_000],
  ])('is spread by chance: %f gives %i ms', (chance, openMs) => {
    random = chance;
    report('fault', 20);
    nowMs += openMs - 1;
    expect(allowance(0)).toBe(0);
    nowMs += 1;
    expect(allowance(0)).toBe(1);
  });
});

describe('half open', () => {
  it('lets one call start, whoever asks', () => {
    openAndWait();
    const first = breaker.permit(0);
    expect([first.calls, breaker.permit(0).calls]).toEqual([1, 0]);
    first.used(1);
    expect(allowance()).toBe(0);
    expect(breaker.phase).toBe('half_open');
  });

  it('lets another one start when nobody reported for a second', () => {
    openAndWait();
    probe();
    nowMs += 999;
    expect(allowance(0)).toBe(0);
    nowMs += 1;
    expect(allowance(0)).toBe(1);
  });

  it('lets another one start when the probe said nothing about the gateway', () => {
    openAndWait();
    probe();
    report('nothing');
    expect(allowance(0)).toBe(1);
    expect(breaker.phase).toBe('half_open');
  });

  it('opens again when the probe fails', () => {
    openAndWait();
    probe();
    report('fault');
    expect(changes.at(-1)).toEqual(['open', 'the probe failed; next probe in 10000 ms']);
    expect(allowance(0)).toBe(0);
  });
});

describe('the probe', () => {
  beforeEach(openAndWait);

  it('is not spent by asking: only a claimed card is a probe', () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const permit = breaker.permit(0);
      expect(permit).toMatchObject({ calls: 1, retries: false });
      permit.used(0);
    }
    probe();
    expect(allowance()).toBe(0);
  });

  it('is a card that does not fail; failures of others say nothing', () => {
    probe();
    report('fault', 1, true);
    expect(breaker.phase).toBe('half_open');
    probe();
    report('fault');
    expect(breaker.phase).toBe('open');
  });

  it('of a fleet in which every card fails decides', () => {
    breaker.permit(0).used(0);
    nowMs += 1_000;
    const permit = breaker.permit(0);
    expect(permit).toMatchObject({ calls: 1, retries: true });
    permit.used(1);
    report('fault', 1, true);
    expect(breaker.phase).toBe('open');
    nowMs += 10_000;
    breaker.permit(0).used(0);
    nowMs += 1_000;
    breaker.permit(0).used(1);
    report('ok', 1, true);
    expect(breaker.phase).toBe('slow_start');
    expect(breaker.permit(0).retries, 'they are still all there is').toBe(true);
  });

  it('may be asked for at the call itself', () => {
    expect([breaker.admit(0), breaker.admit(0)]).toEqual([true, false]);
    report('fault', 1, true);
    expect(breaker.admit(0)).toBe(true);
    report('ok');
    expect([breaker.admit(0), breaker.admit(1)]).toEqual([true, false]);
  });
});

it('tells its state', () => {
  expect(breaker.report('flow')).toEqual({
    interface: 'flow',
    state: 'closed',
    sinceMs: 1_000_000,
    reason: null,
    nextProbeAtMs: null,
  });
  nowMs += 7;
  report('fault', 20);
  nowMs += 1_000;
  expect(breaker.report('flow')).toEqual({
    interface: 'flow',
    state: 'open',
    sinceMs: 1_000_007,
    reason: '20 of 20 calls in 10 s were gateway faults',
    nextProbeAtMs: 1_005_007,
  });
  nowMs += 4_000;
  expect(breaker.report('flow')).toMatchObject({ state: 'half_open', nextProbeAtMs: null });
  probe();
  report('ok');
  expect(breaker.report('flow')).toMatchObject({ state: 'half_open', reason: 'the probe succeeded' });
  nowMs += 10_000;
  expect(breaker.report('flow')).toMatchObject({ state: 'closed', reason: null });
});

it('tells since when it holds back, over all its probes, and what was wrong last', () => {
  nowMs += 7;
  for (let i = 0; i < 20; i += 1) breaker.record('flow', 'fault', false, `fault ${i}`);
  const since = nowMs;
  expect(breaker.report('flow')).toMatchObject({
    sinceMs: since,
    reason: '20 of 20 calls in 10 s were gateway faults: fault 19',
  });
  expect(changes.at(-1)?.[1]).toBe(
    '20 of 20 calls in 10 s were gateway faults: fault 19; next probe in 5000 ms',
  );
  nowMs += 5_000;
  probe();
  breaker.record('flow', 'fault', false, 'ECONNREFUSED');
  expect(breaker.report('flow')).toMatchObject({
    state: 'open',
    sinceMs: since,
    reason: 'the probe failed: ECONNREFUSED',
  });
  nowMs += 10_000;
  expect(breaker.report('flow')).toMatchObject({ state: 'half_open', sinceMs: since });
  probe();
  report('ok');
  nowMs += 10_000;
  expect(breaker.report('flow')).toMatchObject({ state: 'closed', sinceMs: nowMs });
});

describe('slow start', () => {
  beforeEach(() => {
    openAndWait();
    probe();
    report('ok');
  });

  it('doubles the calls in flight every second until nothing holds back', () => {
    const limits: number[] = [];
    while (allowance(0) !== Number.POSITIVE_INFINITY) {
      limits.push(allowance(0));
      nowMs += 1_000;
    }
    expect(limits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    expect(phases()).toEqual(['open', 'half_open', 'slow_start', 'closed']);
  });

  it('takes the calls in flight off', () => {
    nowMs += 3_000;
    expect([allowance(3), allowance(8), allowance(20)]).toEqual([5, 0, 0]);
  });

  it('opens again, for longer, when the gateway breaks under the growing load', () => {
    nowMs += 4_000;
    report('fault', 20);
    expect(changes.at(-1)).toEqual([
      'open',
      '20 of 20 calls in 10 s were gateway faults; next probe in 10000 ms',
    ]);
  });

  it('starts from 5 s again once it has closed', () => {
    nowMs += 10_000;
    expect(allowance(0)).toBe(Number.POSITIVE_INFINITY);
    report('fault', 20);
    expect(changes.at(-1)?.[1]).toContain('next probe in 5000 ms');
  });

  it('closes by reports alone, too', () => {
    nowMs += 10_000;
    report('ok');
    expect(breaker.phase).toBe('closed');
  });
});
