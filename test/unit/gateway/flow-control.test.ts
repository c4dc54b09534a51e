import { beforeEach, describe, expect, it } from 'vitest';
import { type FlowState, GatewayFlow } from '../../../src/gateway/flow-control.ts';

let nowMs: number;
let random: number;
let changes: Array<[FlowState, string]>;
let flow: GatewayFlow;

beforeEach(() => {
  nowMs = 1_000_000;
  random = 0.5;
  changes = [];
  flow = new GatewayFlow({
    clock: { now: () => nowMs, monotonic: () => nowMs },
    random: () => random,
    onChange: (state, reason) => changes.push([state, reason]),
  });
});

function report(outcome: 'ok' | 'gateway_fault' | 'ignored', times: number): void {
  for (let i = 0; i < times; i += 1) flow.record(outcome);
}

function states(): FlowState[] {
  return changes.map(([state]) => state);
}

/** Opens the breaker and waits until a probe is due. */
function openAndWait(): void {
  report('gateway_fault', 20);
  nowMs += 5_000;
}

describe('closed', () => {
  it('holds nothing back', () => {
    report('ok', 1_000);
    expect(flow.allowance(5_000)).toBe(Number.POSITIVE_INFINITY);
  });

  it('opens at 20 calls of which half are faults, and says why', () => {
    report('ok', 10);
    report('gateway_fault', 9);
    expect(flow.allowance(0)).toBe(Number.POSITIVE_INFINITY);
    report('gateway_fault', 1);
    expect(flow.allowance(0)).toBe(0);
    expect(changes).toEqual([['open', '10 of 20 calls in 10 s were gateway faults; next probe in 5000 ms']]);
  });

  it('stays closed below half, and with fewer than 20 calls', () => {
    report('gateway_fault', 19);
    report('ok', 21);
    report('gateway_fault', 1);
    expect(states()).toEqual([]);
  });

  it('does not count what says nothing about the gateway', () => {
    report('gateway_fault', 10);
    report('ignored', 1_000);
    expect(states()).toEqual([]);
    report('ok', 9);
    report('gateway_fault', 1);
    expect(states()).toEqual(['open']);
  });

  it('forgets calls after ten seconds', () => {
    report('gateway_fault', 19);
    nowMs += 10_000;
    report('gateway_fault', 1);
    expect(states()).toEqual([]);
    nowMs += 9_000;
    report('gateway_fault', 18);
    expect(states()).toEqual([]);
    report('gateway_fault', 1);
    expect(states()).toEqual(['open']);
  });

  it('forgets everything after a long silence', () => {
    report('gateway_fault', 19);
    nowMs += 3_600_000;
    report('gateway_fault', 19);
    expect(states()).toEqual([]);
  });
});

describe('open', () => {
  it('ignores late reports of calls that were under way', () => {
    report('gateway_fault', 20);
    report('ok', 100);
    report('gateway_fault', 100);
    nowMs += 4_999;
    expect(flow.allowance(0)).toBe(0);
    expect(states()).toEqual(['open']);
  });

  it('lasts 5 s, then twice as long after each failed probe, up to 60 s', () => {
    report('gateway_fault', 20);
    const durations: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      const openedAt = nowMs;
      while (flow.allowance(0) === 0) nowMs += 100;
      durations.push(nowMs - openedAt);
      flow.record('gateway_fault');
    }
    expect(durations).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it.each([
    [0, 4_000],
    [0.999_999, 6_000],
  ])('is spread by chance: %f gives %i ms', (chance, openMs) => {
    random = chance;
    report('gateway_fault', 20);
    nowMs += openMs - 1;
    expect(flow.allowance(0)).toBe(0);
    nowMs += 1;
    expect(flow.allowance(0)).toBe(1);
  });
});

describe('half open', () => {
  it('lets one call start, whoever asks', () => {
    openAndWait();
    expect([flow.allowance(0), flow.allowance(0), flow.allowance(0)]).toEqual([1, 0, 0]);
    expect(flow.state).toBe('half_open');
  });

  it('lets another one start when nobody reported for a second', () => {
    openAndWait();
    expect(flow.allowance(0)).toBe(1);
    nowMs += 999;
    expect(flow.allowance(0)).toBe(0);
    nowMs += 1;
    expect(flow.allowance(0)).toBe(1);
  });

  it('lets another one start when the probe said nothing about the gateway', () => {
    openAndWait();
    expect(flow.allowance(0)).toBe(1);
    flow.record('ignored');
    expect(flow.allowance(0)).toBe(1);
    expect(flow.state).toBe('half_open');
  });

  it('opens again when the probe fails', () => {
    openAndWait();
    flow.allowance(0);
    flow.record('gateway_fault');
    expect(changes.at(-1)).toEqual(['open', 'the probe failed; next probe in 10000 ms']);
    expect(flow.allowance(0)).toBe(0);
  });
});

describe('slow start', () => {
  beforeEach(() => {
    openAndWait();
    flow.allowance(0);
    flow.record('ok');
  });

  it('doubles the calls in flight every second until nothing holds back', () => {
    const limits: number[] = [];
    while (flow.allowance(0) !== Number.POSITIVE_INFINITY) {
      limits.push(flow.allowance(0));
      nowMs += 1_000;
    }
    expect(limits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    expect(states()).toEqual(['open', 'half_open', 'slow_start', 'closed']);
  });

  it('takes the calls in flight off', () => {
    nowMs += 3_000;
    expect([flow.allowance(3), flow.allowance(8), flow.allowance(20)]).toEqual([5, 0, 0]);
  });

  it('opens again, for longer, when the gateway breaks under the growing load', () => {
    nowMs += 4_000;
    report('gateway_fault', 20);
    expect(changes.at(-1)).toEqual([
      'open',
      '20 of 20 calls in 10 s were gateway faults; next probe in 10000 ms',
    ]);
  });

  it('starts from 5 s again once it has closed', () => {
    nowMs += 10_000;
    expect(flow.allowance(0)).toBe(Number.POSITIVE_INFINITY);
    report('gateway_fault', 20);
    expect(changes.at(-1)?.[1]).toContain('next probe in 5000 ms');
  });

  it('closes by reports alone, too', () => {
    nowMs += 10_000;
    flow.record('ok');
    expect(flow.state).toBe('closed');
  });
});
