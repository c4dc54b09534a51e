import { describe, expect, it } from 'vitest';
import type { BreakerReport } from '../../../src/domain/limits/breaker.ts';
import type { PollHold } from '../../../src/domain/schedule/poll-hold.ts';
import {
  gatewayReportOf,
  heldBackBy,
  heldFollowUpsOf,
  heldInterfacesOf,
  presentFaultOf,
} from '../../../src/health/gateway-report.ts';

const breaker = (differing: Partial<BreakerReport>): BreakerReport => ({
  ...{ interface: 'flow', state: 'open', sinceMs: 2_000, reason: 'fails', nextProbeAtMs: 9_000 },
  ...differing,
});
const report = (...instances: BreakerReport[][]) =>
  gatewayReportOf(instances.map((breakers) => ({ breakers })));
const ofFlow = (...instances: BreakerReport[][]) =>
  report(...instances).interfaces.find((one) => one.interface === 'flow');

it('shows every interface, closed where no instance holds calls back', () => {
  const { interfaces } = report([breaker({})]);
  expect(interfaces.map((one) => `${one.interface} ${one.breaker}`)).toEqual([
    'gateway closed',
    'realname closed',
    'flow open',
    'card_status closed',
    'stop closed',
    'start closed',
  ]);
  expect(interfaces[0]).toEqual({
    ...{
      interface: 'gateway',
      breaker: 'closed',
      since: null,
      reason: null,
      kind: null,
      nextProbeAt: null,
      instances: 0,
    },
  });
});

it('shows the instance that holds back longest, and how many do', () => {
  const found = ofFlow([breaker({ sinceMs: 3_000, reason: 'later' })], [], [breaker({ sinceMs: 1_000 })]);
  expect(found).toEqual({
    ...{ interface: 'flow', breaker: 'open', reason: 'fails', kind: null, instances: 2 },
    ...{ since: new Date(1_000), nextProbeAt: new Date(9_000) },
  });
});

it('shows an open breaker before one that is about to close', () => {
  const found = ofFlow([breaker({ state: 'half_open', sinceMs: 1_000 })], [breaker({ sinceMs: 3_000 })]);
  expect(found).toMatchObject({ breaker: 'open', since: new Date(3_000) });
  const probing = breaker({ state: 'half_open', nextProbeAtMs: null });
  expect(ofFlow([probing])).toMatchObject({ breaker: 'half_open', nextProbeAt: null });
});

it('holds a task type back where its own interface is held back, or the whole gateway', () => {
  const flow = report([breaker({})], [breaker({})]);
  expect(heldInterfacesOf('carddata', flow)).toMatchObject([
    { interface: 'flow', breaker: 'open', reason: 'fails', instances: 2 },
  ]);
  expect(heldInterfacesOf('realname', flow)).toEqual([]);
  const stop = report([breaker({ interface: 'stop' })]);
  expect(heldInterfacesOf('package', stop)).toEqual([]);
  expect(heldFollowUpsOf('package', stop)).toMatchObject([{ interface: 'stop', breaker: 'open' }]);
  expect(heldFollowUpsOf('carddata', stop)).toEqual([]);
  expect(heldInterfacesOf('realname', report([breaker({ interface: 'gateway' })]))).toMatchObject([
    { interface: 'gateway' },
  ]);
});

it('names how calls fail for most workers, and for which where it is not all', () => {
  const worker = (instanceId: string, kind: 'name' | 'refused' | null, roles = ['worker']) => ({
    ...{ instanceId, roles, gatewayFault: kind && { kind, text: `words of ${kind}` } },
  });
  expect(presentFaultOf([worker('a', null), worker('b', 'name', ['api'])])).toBeNull();
  expect(presentFaultOf([worker('a', 'name'), worker('b', null)])).toEqual({
    ...{ kind: 'name', text: 'words of name', instanceIds: ['a'] },
  });
  expect(presentFaultOf([worker('a', 'refused'), worker('b', 'name'), worker('c', 'name')])).toMatchObject({
    ...{ kind: 'name', instanceIds: ['b', 'c'] },
  });
  expect(presentFaultOf([worker('a', 'name'), worker('b', 'name')])?.instanceIds).toEqual([]);
});

describe('what holds a task type back', () => {
  const worker = (hold?: PollHold) => ({
    roles: ['worker'],
    databaseOutage: null,
    ...(hold === undefined ? {} : { holds: { carddata: hold } }),
  });

  it.each([
    [
      'the gate of every worker',
      [worker('results_wait'), worker('results_wait')],
      'results wait for PostgreSQL or Redis',
    ],
    ['nothing, while one worker claims', [worker('results_wait'), worker()], null],
    ['nothing, where the rate limits are the pace', [worker('rate_limit')], null],
    ['no worker', [], 'no instance is known to poll'],
  ])('is %s', (_, instances, words) => {
    expect(heldBackBy('carddata', instances, [], [])).toBe(words);
  });

  it('is a pause before the gate, and concerns its own task type', () => {
    expect(heldBackBy('carddata', [worker('cards_unread')], [], ['pause'])).toBe('polling is paused');
    expect(heldBackBy('realname', [worker('cards_unread')], [], [])).toBeNull();
  });
});
