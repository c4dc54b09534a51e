// What is said of our own side, and that other instances are the second witness.
import { expect, it } from 'vitest';
import type { OwnSide } from '../../../src/domain/stats/own-side.ts';
import { cutOffFrom } from '../../../src/health/gateway-report.ts';
import { ownSideCauses } from '../../../src/health/own-side-reasons.ts';
import { inNumbers } from '../../support/judged-facts.ts';
import { instanceOf } from '../../support/polled-fleet.ts';

const WELL: OwnSide = { loopDelayMs: 3, cpuPercent: 40, machinePercent: 50, redisMs: 1, databaseMs: 2 };
const fleet = (...changes: Partial<OwnSide>[]) =>
  changes.map((change, i) => instanceOf(`n${i + 1}`, { ownSide: { ...WELL, ...change } }));
const said = (...changes: Partial<OwnSide>[]) => ownSideCauses(fleet(...changes), false).map(inNumbers);

it('nothing is said of instances that are well, or do not measure', () => {
  expect(said({}, {})).toEqual([]);
  expect(ownSideCauses([instanceOf('old')], true)).toEqual([]);
});

it('a store is slow where all instances measure it', () => {
  expect(said({ redisMs: 600 }, { redisMs: 580 }, { redisMs: 610 })).toEqual(['redis_slow warning 0.61 3 3']);
  expect(said({ databaseMs: 800 })).toEqual(['database_slow warning 0.80']);
});

it('the way of one instance is slow where others measure none of it', () => {
  expect(said({}, { redisMs: 600 }, {})).toEqual(['redis_slow warning 0.60 2']);
});

it('an instance without processor time is named, with a second figure or without', () => {
  expect(said({ loopDelayMs: 210, cpuPercent: 98 }, {})).toEqual(['own_cpu warning 0.21 98']);
  expect(said({ loopDelayMs: 210 })).toEqual(['own_cpu warning 0.21']);
});

it('it is an alert where cards are polled too seldom', () => {
  const severities = [true, false].map(
    (isLate) => ownSideCauses(fleet({ redisMs: 600 }), isLate)[0]?.severity,
  );
  expect(severities).toEqual(['alert', 'warning']);
});

it('a worker is cut off if few hold an interface back for ten seconds, and most do not', () => {
  const held = (sinceMs: number) => [
    {
      interface: 'flow',
      state: 'open',
      sinceMs,
      reason: 'connect ECONNREFUSED',
      nextProbeAtMs: null,
    } as const,
  ];
  const worker = (id: string, sinceMs: number | null) =>
    instanceOf(id, { breakers: sinceMs === null ? [] : held(sinceMs) });
  const [now, long, short] = [100_000, 80_000, 95_000];
  const found = (...workers: Parameters<typeof cutOffFrom>[0]) => [...cutOffFrom(workers, now)];
  expect(found(worker('a', null), worker('b', long), worker('c', null))).toEqual([['flow', ['b']]]);
  expect(found(worker('a', null), worker('b', long)), 'one of two').toEqual([['flow', ['b']]]);
  expect(found(worker('a', null), worker('b', short), worker('c', null)), 'too short to know').toEqual([]);
  expect(found(worker('a', long), worker('b', long), worker('c', null)), 'most of them').toEqual([]);
  expect(found(worker('a', long)), 'there is no other').toEqual([]);
  expect(found(worker('a', null))).toEqual([]);
});
