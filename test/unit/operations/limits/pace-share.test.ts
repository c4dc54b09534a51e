import { expect, it } from 'vitest';
import { capacityOf } from '../../../../src/operations/limits/capacity.ts';
import { awaitedWords, paceShareOf, paceShortWords } from '../../../../src/operations/limits/pace-share.ts';
import type { PaceLimit } from '../../../../src/store/ports/live/pace.ts';

const ALL: PaceLimit = { id: 'all/second', interfaces: null, perSecond: 60, burst: 24 };
const FLOW: PaceLimit = { id: 'flow/second', interfaces: ['flow'], perSecond: 5, burst: 4 };
const share = (
  limits: readonly PaceLimit[],
  realname: number,
  carddata: number,
  taskType = 'package' as const,
) => paceShareOf(taskType, limits, { realname, carddata, package: 1_000 })?.perSecond;

it('is an equal part, and what types that want less leave over', () => {
  expect(share([ALL], 100, 100)).toBe(20);
  expect(share([ALL], 10, 100)).toBe(25);
  expect(share([ALL], 10, 5)).toBe(45);
  expect(share([ALL], 0, 0)).toBe(60);
});

it('is that of the limit that leaves least, among those that count the type', () => {
  const demand = { realname: 100, carddata: 100, package: 100 };
  expect(paceShareOf('carddata', [ALL, FLOW], demand)).toEqual({ perSecond: 5, ofPerSecond: 5 });
  expect(paceShareOf('realname', [FLOW], demand)).toBeNull();
});

it('is what polls wait for, if a limit says so', () => {
  const state = { ...ALL, granted: 9, waiting: ['realname', 'carddata', 'follow_up'] } as const;
  const flow = { ...FLOW, granted: 9, waiting: ['carddata'] } as const;
  expect(awaitedWords([state, flow], 'realname')).toBe('calls wait for the rate limit of 60 a second');
  expect(awaitedWords([state, flow], 'carddata')).toBe('calls wait for the rate limit of 5 a second');
  expect(awaitedWords([state, flow], 'package')).toBeNull();
});

it('is said in cards and intervals', () => {
  const words = paceShortWords({ perSecond: 200, ofPerSecond: 200 }, 10_000_000 / 1_800, 1_800);
  expect(words).toBe('200 calls a second allow 10,000,000 cards every 14 h; configured: 30 min');
  expect(paceShortWords({ perSecond: 20, ofPerSecond: 60 }, 100, 60)).toBe(
    '20 calls a second (of 60) allow 6,000 cards every 5 min; configured: 60 s',
  );
});

it('bounds the capacity, and then no higher limit is advised', () => {
  const busy = {
    taskType: 'realname',
    demandPerSecond: 50,
    owedCards: 10,
    callMs: 100,
    heldBy: null,
  } as const;
  const limits = { maxConcurrency: 2, effectiveConcurrency: 2 };
  expect(capacityOf({ ...busy, ...limits, allowedPerSecond: 10 })).toMatchObject({
    capacityPerSecond: 10,
    boundBy: 'rate_limits',
    drainSeconds: null,
    remedy: { raiseTo: null, intervalFactor: 5.5 },
  });
  expect(capacityOf({ ...busy, ...limits, allowedPerSecond: 1_000 }).remedy?.raiseTo).toBe(6);
});
