// Whether an instance itself is well: what is short on our own side is named before a gateway is.
import { expect, it } from 'vitest';
import {
  busyWords,
  isOwnSideWell,
  isOwnSideWellNow,
  judgedSide,
  type OwnSide,
  troublesOf,
} from '../../../../src/domain/stats/own-side.ts';

const WELL: OwnSide = { loopDelayMs: 3, cpuPercent: 40, machinePercent: 50, redisMs: 1, databaseMs: 2 };

it.each<[string, Partial<OwnSide>, string[]]>([
  ['well', {}, []],
  ['not measured yet', { loopDelayMs: null, redisMs: null, databaseMs: null }, []],
  ['late timers', { loopDelayMs: 50 }, ['own_cpu']],
  [
    'late timers, which make all else slow, too',
    { loopDelayMs: 80, redisMs: 300, databaseMs: 900 },
    ['own_cpu'],
  ],
  ['a slow Redis', { redisMs: 100 }, ['redis_slow']],
  ['a slow PostgreSQL', { databaseMs: 250 }, ['database_slow']],
  ['both stores', { redisMs: 600, databaseMs: 800 }, ['redis_slow', 'database_slow']],
  ['stores in another continent', { redisMs: 60, databaseMs: 90 }, []],
])('an instance with %s', (_, change, found) => {
  expect(troublesOf({ ...WELL, ...change })).toEqual(found);
});

it('a second figure says why timers are late, or it is not known', () => {
  expect(busyWords({ ...WELL, cpuPercent: 97 })).toBe('it uses 97 % of a core');
  expect(busyWords({ ...WELL, machinePercent: 99.6 })).toBe('the machine is 100 % busy');
  expect(busyWords(WELL)).toBeNull();
  expect(busyWords({ ...WELL, cpuPercent: null, machinePercent: null })).toBeNull();
});

it('only workers make calls, and an older version measures nothing', () => {
  const slow = { ...WELL, redisMs: 400 };
  expect(isOwnSideWell([])).toBe(true);
  expect(isOwnSideWell([{ roles: ['worker'] }, { roles: ['worker'], ownSide: WELL }])).toBe(true);
  expect(isOwnSideWell([{ roles: ['api'], ownSide: slow }])).toBe(true);
  expect(
    isOwnSideWell([
      { roles: ['worker'], ownSide: WELL },
      { roles: ['worker'], ownSide: slow },
    ]),
  ).toBe(false);
});

it('the gateway is not judged by calls that a shortage slowed down, also after its end', () => {
  const after = (agoMs: number) => ({ ...WELL, lastShort: { ...WELL, loopDelayMs: 80, agoMs } });
  const isJudged = (agoMs: number) => isOwnSideWell([{ roles: ['worker'], ownSide: after(agoMs) }]);
  expect([0, 2_000, 19_999, 20_000].map(isJudged)).toEqual([false, false, false, true]);
  expect(judgedSide(after(2_000)).loopDelayMs).toBe(80);
  expect(judgedSide({ ...WELL, lastShort: null }).loopDelayMs).toBe(3);
  // The calls of this second are well.
  expect(isOwnSideWellNow([{ roles: ['worker'], ownSide: after(0) }])).toBe(true);
  expect(isOwnSideWellNow([{ roles: ['worker'], ownSide: { ...WELL, redisMs: 400 } }])).toBe(false);
});
