import { describe, expect, it } from 'vitest';
import { catchingUp, ResumeRamp } from '../../../../src/domain/limits/resume-ramp.ts';

const MINUTE_MS = 60_000;

describe('the limit after a pause', () => {
  it('begins with an eighth, and doubles every ten seconds', () => {
    const ramp = new ResumeRamp();
    const shares = (isPaused: boolean, ...times: number[]) => times.map((at) => ramp.share(isPaused, at));
    expect(shares(false, 0)).toEqual([1]);
    expect(shares(true, 0, 59_999, 60_000, 80_000)).toEqual([1, 1, 1 / 8, 1 / 8]);
    expect(shares(false, 81_000, 90_999, 91_000, 101_000, 111_000, 112_000)).toEqual([
      ...[1 / 8, 1 / 8, 1 / 4, 1 / 2, 1, 1],
    ]);
  });

  it('stays whole after less than a minute', () => {
    const ramp = new ResumeRamp();
    ramp.share(true, 0);
    expect(ramp.share(false, 59_999)).toBe(1);
    ramp.share(true, 70_000);
    expect(ramp.share(true, 129_000), 'another pause counts from its own begin').toBe(1);
  });
});

describe('a task type catches up', () => {
  const last = { sinceMs: 0, untilMs: 10 * MINUTE_MS };

  it('for as long as the pause was, and knows its first minute', () => {
    const at = (minutes: number) => catchingUp(last, false, minutes * MINUTE_MS);
    expect(at(10)).toEqual({ pausedMs: 10 * MINUTE_MS, isFirst: true });
    expect(at(11)).toEqual({ pausedMs: 10 * MINUTE_MS, isFirst: false });
    expect(at(19.9)).not.toBeNull();
    expect(at(20)).toBeNull();
  });

  it('for a minute at least, and an hour at most', () => {
    const short = { sinceMs: 0, untilMs: 1_000 };
    expect(catchingUp(short, false, MINUTE_MS)).toEqual({ pausedMs: 1_000, isFirst: true });
    expect(catchingUp(short, false, 1_000 + MINUTE_MS)).toBeNull();
    const long = { sinceMs: 0, untilMs: 240 * MINUTE_MS };
    expect(catchingUp(long, false, 299 * MINUTE_MS)).not.toBeNull();
    expect(catchingUp(long, false, 300 * MINUTE_MS)).toBeNull();
  });

  it('at once where the pause was ended early and the record does not say so yet', () => {
    expect(catchingUp(last, false, 5 * MINUTE_MS)).toEqual({ pausedMs: 5 * MINUTE_MS, isFirst: true });
    expect(catchingUp(last, true, 5 * MINUTE_MS), 'it is paused').toBeNull();
    expect(catchingUp({ sinceMs: 10, untilMs: 20 }, false, 5), 'by another clock').toBeNull();
    expect(catchingUp(null, false, 5)).toBeNull();
  });
});
