import { describe, expect, it } from 'vitest';
import {
  adviceOf,
  type CapacityInputs,
  capacityOf,
  fleetCapacityOf,
} from '../../../../src/operations/limits/capacity.ts';

const IDLE: CapacityInputs = {
  taskType: 'realname',
  demandPerSecond: 500,
  owedCards: 0,
  maxConcurrency: 100,
  effectiveConcurrency: 100,
  avgDurationMs: 100,
  allowedPerSecond: null,
};

describe('capacity of a task type', () => {
  it('is the limit over the duration of a call', () => {
    expect(capacityOf(IDLE)).toEqual({
      demandPerSecond: 500,
      capacityPerSecond: 1_000,
      headroomPercent: 50,
      drainSeconds: 0,
      remedy: null,
    });
  });

  it('computes when a backlog is gone', () => {
    expect(capacityOf({ ...IDLE, owedCards: 30_000 }).drainSeconds).toBe(60);
  });

  it('takes what fell due within the last second for no backlog', () => {
    expect(capacityOf({ ...IDLE, owedCards: 500 }).drainSeconds).toBe(0);
  });

  it('names the smallest limit and interval that help where a backlog never drains', () => {
    const overloaded = capacityOf({ ...IDLE, demandPerSecond: 1_600, owedCards: 1_000 });
    expect(overloaded).toMatchObject({ headroomPercent: -60, drainSeconds: null });
    expect(overloaded.remedy).toEqual({ taskType: 'realname', raiseTo: 176, intervalFactor: 1.8 });
    expect(
      capacityOf({
        ...IDLE,
        demandPerSecond: 1_600,
        owedCards: 1_000,
        maxConcurrency: 176,
        effectiveConcurrency: 176,
      }),
    ).toMatchObject({ remedy: null });
    expect(capacityOf({ ...IDLE, demandPerSecond: 1_600 / 1.8, owedCards: 1_000 }).remedy).toBeNull();
  });

  it('advises no higher limit where the gateway takes no more, nor one beyond bounds', () => {
    const reduced = { ...IDLE, demandPerSecond: 800, owedCards: 10, effectiveConcurrency: 33 };
    expect(capacityOf(reduced).remedy).toEqual({ taskType: 'realname', raiseTo: null, intervalFactor: 2.7 });
    expect(capacityOf({ ...IDLE, demandPerSecond: 1e7, owedCards: 10 }).remedy?.raiseTo).toBeNull();
  });

  it('knows nothing without a measured call', () => {
    expect(capacityOf({ ...IDLE, avgDurationMs: null, owedCards: 5 })).toMatchObject({
      capacityPerSecond: null,
      headroomPercent: null,
      drainSeconds: null,
    });
    expect(capacityOf({ ...IDLE, avgDurationMs: null }).drainSeconds).toBe(0);
  });
});

describe('advice', () => {
  it('says what helps', () => {
    expect(adviceOf({ taskType: 'package', raiseTo: 180, intervalFactor: 1.8 })).toBe(
      'raise package to 180, or poll package 1.8 times less often',
    );
    expect(adviceOf({ taskType: 'package', raiseTo: null, intervalFactor: 2 })).toBe(
      'poll package 2 times less often',
    );
  });
});

describe('capacity of the fleet', () => {
  it('is as good as its worst task type', () => {
    const good = capacityOf(IDLE);
    const late = capacityOf({ ...IDLE, owedCards: 30_000 });
    const never = capacityOf({ ...IDLE, taskType: 'package', demandPerSecond: 1_600, owedCards: 1 });
    expect(fleetCapacityOf([good, late])).toMatchObject({
      demandPerSecond: 1_000,
      capacityPerSecond: 2_000,
      drainSeconds: 60,
    });
    expect(fleetCapacityOf([good, never])).toMatchObject({ headroomPercent: -60, drainSeconds: null });
  });

  it('is unknown without any measured call', () => {
    const unknown = capacityOf({ ...IDLE, avgDurationMs: null });
    expect(fleetCapacityOf([unknown])).toMatchObject({ capacityPerSecond: null, headroomPercent: null });
  });
});
