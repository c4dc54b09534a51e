import { describe, expect, it } from 'vitest';
import type { CardsPerCall, InterfaceName } from '../../../src/domain/gateway-interface.ts';
import { perTaskType, TASK_TYPES } from '../../../src/domain/task-type.ts';
import {
  awaitedWords,
  type Capacity,
  type CapacityInputs,
  capacityOf,
  fleetCapacityOf,
  paceShareOf,
} from '../../../src/health/capacity.ts';
import type { PaceLimit } from '../../../src/store/ports/live/pace.ts';

const IDLE: CapacityInputs = {
  demandPerSecond: 500,
  owedCards: 0,
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
    });
  });

  it('computes when a backlog is gone', () => {
    expect(capacityOf({ ...IDLE, owedCards: 30_000 }).drainSeconds).toBe(60);
  });

  it('takes what fell due within the last second for no backlog', () => {
    expect(capacityOf({ ...IDLE, owedCards: 500 }).drainSeconds).toBe(0);
  });

  it('never drains while as much or more is demanded', () => {
    const overloaded = capacityOf({ ...IDLE, demandPerSecond: 1_600, owedCards: 1_000 });
    expect(overloaded).toMatchObject({ headroomPercent: -60, drainSeconds: null });
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
    });
  });

  it('does not say that the backlog is gone while all cards wait to be retried', () => {
    const held = { ...IDLE, owedCards: 0, heldBy: 'the gateway is dead' };
    expect(capacityOf(held).drainSeconds).toBeNull();
  });
});

/** @param capacities of realname, carddata and package, as far as given. */
const fleetOf = (...capacities: readonly Capacity[]) =>
  capacities.map((capacity, i) => ({ taskType: TASK_TYPES[i] ?? 'package', capacity }));

describe('capacity of the fleet', () => {
  const fleetCapacity = (types: ReturnType<typeof fleetOf>) => fleetCapacityOf(types, [], () => 1);

  it('names what holds it back once, or by task type', () => {
    const good = capacityOf(IDLE);
    const held = (heldBy: string) => capacityOf({ ...IDLE, heldBy });
    const words = (...types: readonly Capacity[]) => fleetCapacity(fleetOf(...types)).heldBy;
    expect(words(good, good)).toBeNull();
    expect(words(held('the gateway is dead'), held('the gateway is dead'))).toBe('the gateway is dead');
    expect(words(good, held('interface flow is dead'), held('polling is paused'))).toBe(
      'carddata: interface flow is dead; package: polling is paused',
    );
    expect(fleetCapacity(fleetOf(good, held('polling is paused')))).toMatchObject({
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
      headroomTaskType: null,
    });
  });

  it('is as good as its worst task type', () => {
    const good = capacityOf(IDLE);
    const late = capacityOf({ ...IDLE, owedCards: 30_000 });
    const never = capacityOf({ ...IDLE, demandPerSecond: 1_600, owedCards: 1 });
    expect(fleetCapacity(fleetOf(good, late))).toMatchObject({
      demandPerSecond: 1_000,
      capacityPerSecond: 2_000,
      boundBy: 'concurrency',
      drainSeconds: 60,
    });
    expect(fleetCapacity(fleetOf(good, never))).toMatchObject({
      headroomPercent: -60,
      headroomTaskType: 'carddata',
      drainSeconds: null,
    });
  });

  it('is no more than the rate limits that its task types share', () => {
    const limits: PaceLimit[] = [{ id: 'all/second', interfaces: null, perSecond: 50, burst: 20 }];
    const demand = perTaskType(() => 10);
    const paced = (cardsPerCall: CardsPerCall) =>
      fleetCapacityOf(
        TASK_TYPES.map((taskType) => {
          const allowedPerSecond = paceShareOf(taskType, limits, demand, cardsPerCall)?.perSecond ?? null;
          return {
            taskType,
            capacity: capacityOf({ ...IDLE, demandPerSecond: 10, allowedPerSecond }),
          };
        }),
        limits,
        cardsPerCall,
      );
    expect(paced(() => 1)).toMatchObject({ boundBy: 'rate_limits', demandPerSecond: 30 });
    expect(paced(() => 1).capacityPerSecond).toBeCloseTo(50);
    // The demand takes 21 of the 50 calls. For each type alone 29 more were left, ten cards each for carddata.
    const batched = paced((name) => (name === 'flow' ? 10 : 1));
    expect(batched.capacityPerSecond).toBeCloseTo(30 + (290 + 29 + 29) / 3);
  });

  it('is unknown without any measured call', () => {
    const unknown = capacityOf({ ...IDLE, callMs: null });
    expect(fleetCapacity(fleetOf(unknown))).toMatchObject({
      capacityPerSecond: null,
      boundBy: null,
      headroomPercent: null,
    });
  });
});

describe('the share of the rate limits', () => {
  const ALL: PaceLimit = { id: 'all/second', interfaces: null, perSecond: 60, burst: 24 };
  const FLOW: PaceLimit = { id: 'flow/second', interfaces: ['flow'], perSecond: 5, burst: 4 };
  const share = (
    limits: readonly PaceLimit[],
    realname: number,
    carddata: number,
    taskType = 'package' as const,
  ) => paceShareOf(taskType, limits, { realname, carddata, package: 1_000 }, () => 1)?.perSecond;

  it('is an equal part, and what types that want less leave over', () => {
    expect(share([ALL], 100, 100)).toBe(20);
    expect(share([ALL], 10, 100)).toBe(25);
    expect(share([ALL], 10, 5)).toBe(45);
    expect(share([ALL], 0, 0)).toBe(60);
  });

  it('is that of the limit that leaves least, among those that count the type', () => {
    const demand = { realname: 100, carddata: 100, package: 100 };
    expect(paceShareOf('carddata', [ALL, FLOW], demand, () => 1)).toEqual({
      ...{ perSecond: 5, cardsPerCall: 1, ofPerSecond: 5 },
    });
    expect(paceShareOf('realname', [FLOW], demand, () => 1)).toBeNull();
  });

  it('is larger where a call asks about many cards, and leaves more to the others', () => {
    const demand = { realname: 100, carddata: 100, package: 100 };
    const cardsPerCall = (name: InterfaceName) => (name === 'flow' ? 50 : 1);
    const batched = { perSecond: 1_000, cardsPerCall: 50, ofPerSecond: 60 };
    expect(paceShareOf('carddata', [ALL], demand, cardsPerCall)).toEqual(batched);
    expect(paceShareOf('package', [ALL], demand, cardsPerCall)?.perSecond).toBe(29);
  });

  it('is what polls wait for, if a limit says so', () => {
    const state = { ...ALL, granted: 9, waiting: ['realname', 'carddata', 'follow_up'] } as const;
    const flow = { ...FLOW, granted: 9, waiting: ['carddata'] } as const;
    expect(awaitedWords([state, flow], 'realname')).toBe('calls wait for the rate limit of 60 a second');
    expect(awaitedWords([state, flow], 'carddata')).toBe('calls wait for the rate limit of 5 a second');
    expect(awaitedWords([state, flow], 'package')).toBeNull();
  });

  it('is said in the unit in which a slow limit shows', () => {
    const hourly = { ...FLOW, perSecond: 10 / 3_600, granted: 9, waiting: ['carddata'] } as const;
    expect(awaitedWords([hourly], 'carddata')).toBe('calls wait for the rate limit of 10 an hour');
  });

  it('bounds the capacity', () => {
    const busy = { demandPerSecond: 50, owedCards: 10, callMs: 100, heldBy: null };
    expect(capacityOf({ ...busy, effectiveConcurrency: 2, allowedPerSecond: 10 })).toMatchObject({
      capacityPerSecond: 10,
      boundBy: 'rate_limits',
      drainSeconds: null,
    });
  });
});
