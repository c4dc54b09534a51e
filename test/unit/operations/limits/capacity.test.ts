import { describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import {
  adviceOf,
  type Capacity,
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
  callMs: 100,
  heldBy: null,
  allowedPerSecond: null,
};

describe('capacity of a task type', () => {
  it('is the limit over the duration of a call', () => {
    expect(capacityOf(IDLE)).toEqual({
      demandPerSecond: 500,
      capacityPerSecond: 1_000,
      boundBy: 'concurrency',
      headroomPercent: 50,
      drainSeconds: 0,
      heldBy: null,
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
    expect(capacityOf({ ...IDLE, callMs: null, owedCards: 5 })).toMatchObject({
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
      drainSeconds: null,
    });
    expect(capacityOf({ ...IDLE, callMs: null }).drainSeconds).toBe(0);
  });

  it('knows nothing while something holds polling back', () => {
    expect(capacityOf({ ...IDLE, owedCards: 30_000, heldBy: 'polling is paused' })).toEqual({
      demandPerSecond: 500,
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
      drainSeconds: null,
      heldBy: 'polling is paused',
      remedy: null,
    });
  });

  it('does not say that the backlog is gone while all cards wait to be retried', () => {
    const held = { ...IDLE, owedCards: 0, heldBy: 'the gateway is dead' };
    expect(capacityOf(held).drainSeconds).toBeNull();
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

/** @param capacities of realname, carddata and package, as far as given. */
const fleetOf = (...capacities: readonly Capacity[]) =>
  capacities.map((capacity, i) => ({ taskType: TASK_TYPES[i] ?? 'package', capacity }));

describe('capacity of the fleet', () => {
  it('names what holds it back once, or by task type', () => {
    const good = capacityOf(IDLE);
    const held = (heldBy: string) => capacityOf({ ...IDLE, heldBy });
    const words = (...types: readonly Capacity[]) => fleetCapacityOf(fleetOf(...types)).heldBy;
    expect(words(good, good)).toBeNull();
    expect(words(held('the gateway is dead'), held('the gateway is dead'))).toBe('the gateway is dead');
    expect(words(good, held('interface flow is dead'), held('polling is paused'))).toBe(
      'carddata: interface flow is dead; package: polling is paused',
    );
    expect(fleetCapacityOf(fleetOf(good, held('polling is paused')))).toMatchObject({
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
      headroomTaskType: null,
    });
  });

  it('is as good as its worst task type', () => {
    const good = capacityOf(IDLE);
    const late = capacityOf({ ...IDLE, owedCards: 30_000 });
    const never = capacityOf({ ...IDLE, taskType: 'package', demandPerSecond: 1_600, owedCards: 1 });
    expect(fleetCapacityOf(fleetOf(good, late))).toMatchObject({
      demandPerSecond: 1_000,
      capacityPerSecond: 2_000,
      boundBy: 'concurrency',
      drainSeconds: 60,
    });
    expect(fleetCapacityOf(fleetOf(good, never))).toMatchObject({
      headroomPercent: -60,
      headroomTaskType: 'carddata',
      drainSeconds: null,
    });
  });

  it('is unknown without any measured call', () => {
    const unknown = capacityOf({ ...IDLE, callMs: null });
    expect(fleetCapacityOf(fleetOf(unknown))).toMatchObject({
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
    });
  });
});
