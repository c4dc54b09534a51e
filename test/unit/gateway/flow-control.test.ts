// Which breaker a call counts for. How one breaker works: breaker.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayFlow } from '../../../src/gateway/flow-control.ts';
import {
  type Gateway,
  GatewayError,
  type GatewayFailure,
  INTERFACE_NAMES,
  type InterfaceName,
} from '../../../src/gateway/gateway.ts';
import { GuardedGateway } from '../../../src/gateway/guarded-gateway.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const IDLE = { inFlight: 0, totalInFlight: 0 };
const CARD = { cardId: 1, iccid: '1' };

let clock: FakeClock;
let changes: string[];
let flow: GatewayFlow;
/** What the gateway answers, by interface; a success where nothing stands. */
let answers: Partial<Record<InterfaceName, GatewayFailure>>;
let asked: number;
let gateway: Gateway;

beforeEach(() => {
  clock = new FakeClock();
  changes = [];
  answers = {};
  asked = 0;
  flow = new GatewayFlow({
    clock,
    random: () => 0.5,
    onChange: (name, phase) => changes.push(`${name} ${phase}`),
  });
  const client: Gateway = {
    call: async (name) => {
      asked += 1;
      const failure = answers[name];
      if (failure !== undefined) throw new GatewayError(failure, 'as the test says');
      return { value: null, durationMs: 1 };
    },
    isStoppedStatus: (status) => status === 'stopped',
  };
  gateway = new GuardedGateway(client, flow);
});

async function call(name: InterfaceName, times: number, failing = false): Promise<void> {
  for (let i = 0; i < times; i += 1) await gateway.call(name, { ...CARD, failing }, 1_000).catch(() => {});
}

function held(): InterfaceName[] {
  return INTERFACE_NAMES.filter((name) => {
    const permit = flow.permit(name, IDLE);
    permit.used(null);
    return permit.calls === 0;
  });
}

describe('a fault of one interface', () => {
  it.each(['timeout', 'network', 'http', 'malformed', 'backpressure', 'connect', 'auth'] as const)(
    '%s holds back that interface alone',
    async (failure) => {
      await call('realname', 30);
      answers = { flow: failure };
      await call('flow', 30);
      expect(held()).toEqual(['flow']);
      expect(changes).toEqual(['flow open']);
    },
  );

  it.each(['card', 'business', 'aborted', 'held'] as const)('%s is none', async (failure) => {
    answers = { flow: failure };
    await call('flow', 100);
    expect(changes).toEqual([]);
  });

  it('of cards that were failing already is none', async () => {
    answers = { flow: 'http' };
    await call('flow', 100, true);
    expect(changes).toEqual([]);
  });

  it('is told by call: a package poll whose stop fails is no fault of the status', async () => {
    answers = { stop: 'http' };
    for (let poll = 0; poll < 30; poll += 1) {
      await call('card_status', 1);
      await call('stop', 1);
    }
    expect(held()).toEqual(['stop']);
  });
});

describe('a fault of the whole gateway', () => {
  it.each(['connect', 'auth'] as const)('%s holds back everything, in one breaker', async (failure) => {
    answers = { realname: failure, flow: failure, card_status: failure };
    for (let i = 0; i < 30; i += 1) for (const name of INTERFACE_NAMES.slice(0, 3)) await call(name, 1);
    expect(held()).toEqual(INTERFACE_NAMES);
    expect(changes).toEqual(['gateway open']);
    clock.advance(5_000);
    answers = {};
    const probe = flow.permit('flow', IDLE);
    expect(probe.calls).toBe(1);
    expect(flow.permit('realname', IDLE).calls, 'one probe for all').toBe(0);
    probe.used(1);
    await call('flow', 1);
    clock.advance(10_000);
    expect(held()).toEqual([]);
    expect(changes).toEqual(['gateway open', 'gateway half_open', 'gateway slow_start', 'gateway closed']);
  });

  it('takes over from the breakers of the interfaces', async () => {
    answers = { realname: 'http' };
    await call('realname', 30);
    answers = { flow: 'connect', card_status: 'connect', realname: 'connect' };
    clock.advance(10_000);
    await call('flow', 30);
    expect(changes).toEqual(['realname open', 'gateway open', 'realname closed']);
  });
});

it('a stop is held back at the call while its interface is broken, and that is no evidence', async () => {
  answers = { stop: 'http' };
  await call('stop', 20);
  asked = 0;
  const refused = await gateway.call('stop', CARD, 1_000).catch((error: unknown) => error);
  expect(refused).toMatchObject({ failure: 'held', isRefusal: true, isGatewayFault: false });
  expect(asked).toBe(0);
  await call('card_status', 1);
  expect(asked).toBe(1);
  clock.advance(5_000);
  answers = {};
  await gateway.call('stop', { ...CARD, failing: true }, 1_000);
  expect(flow.breakers().find((breaker) => breaker.interface === 'stop')).toMatchObject({
    state: 'half_open',
    reason: 'the probe succeeded',
  });
});

it('tells the state of every breaker', () => {
  expect(flow.breakers().map((breaker) => [breaker.interface, breaker.state])).toEqual(
    ['gateway', ...INTERFACE_NAMES].map((name) => [name, 'closed']),
  );
});
