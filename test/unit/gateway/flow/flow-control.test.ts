// Which calls count for which interface, what is held back, and when slow calls make room. How one interface is
// throttled: throttle.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import {
  type CallGrant,
  FlowControlledGateway,
  type FollowUpPace,
} from '../../../../src/gateway/flow/flow-control.ts';
import { GatewayError, type GatewayFailure } from '../../../../src/gateway/gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ONE_CARD_A_CALL } from '../../../support/one-card-calls.ts';

const CARD = { cardId: 1, iccid: '1', carrierId: 0 };
/** Enough to find an interface dead that has not succeeded for ten seconds. */
const MANY = 30;

let clock: FakeClock;
let changes: string[];
let metered: string[];
let endedSlow: unknown[];
let gateway: FlowControlledGateway;
/** What the gateway answers, by interface; a success where there is nothing. */
let answers: Partial<Record<InterfaceName, GatewayFailure>>;
let tookMs: number;
let asked: number;
let pace: FollowUpPace;
let givenBack: string[];
/** Whether there is a connection at each question; then there is one. */
let connections: boolean[];

const grantOf = (): CallGrant => ({
  expiresAt: clock.monotonic() + 300,
  giveBack: async () => void givenBack.push('call'),
});

beforeEach(() => {
  clock = new FakeClock();
  clock.advance(1_000_000);
  [changes, metered, endedSlow, answers] = [[], [], [], {}];
  [tookMs, asked] = [0, 0];
  [givenBack, connections] = [[], []];
  pace = { followUp: async () => grantOf(), renewed: async (grant) => grant };
  gateway = new FlowControlledGateway({
    clock,
    cardsPerCall: () => 1,
    pace: {
      followUp: (...wait) => pace.followUp(...wait),
      renewed: (...grant) => pace.renewed(...grant),
    },
    random: () => 0,
    meter: { gatewayCall: (...call) => metered.push(call.join(' ')) },
    onChange: (name, state) => changes.push(`${name} ${state}`),
    gateway: {
      call: async (name) => {
        asked += 1;
        clock.advance(tookMs);
        const failure = answers[name];
        if (failure !== undefined) throw new GatewayError(failure, 'as the test says');
        return { value: null, durationMs: tookMs };
      },
      ...ONE_CARD_A_CALL,
      gather: async () => {
        if (connections.shift() === false) throw new GatewayError('held', 'no connection');
        let isFirst = true;
        return {
          giveBack: () => {
            if (isFirst) givenBack.push('connection');
            isFirst = false;
          },
        };
      },
      isStoppedStatus: (status) => status === 'stopped',
      endSlowCalls: (...slow) => endedSlow.push(slow),
    },
  });
});

/** As a poll does, or as a call that follows from one. */
async function make(name: InterfaceName) {
  const follows = name === 'stop' || name === 'start';
  return gateway.call(name, CARD, 1_000, follows ? await gateway.gather(name, 400) : undefined);
}

async function call(name: InterfaceName, times = 1): Promise<void> {
  for (let i = 0; i < times; i += 1) await make(name).catch(() => {});
}

const open = () =>
  gateway
    .breakers()
    .filter(({ state }) => state === 'open')
    .map((breaker) => breaker.interface);

describe('a failure', () => {
  it.each(['timeout', 'network', 'http', 'malformed', 'backpressure', 'connect', 'auth'] as const)(
    '%s counts for the interface that was called',
    async (failure) => {
      await call('realname', 12);
      await call('flow', 12);
      answers = { flow: failure };
      clock.advance(10_000);
      await call('flow', MANY);
      expect(open()).toEqual(['flow']);
      expect(changes).toEqual(['flow open']);
    },
  );

  it.each(['card', 'business', 'aborted', 'held'] as const)(
    '%s is none of the interface',
    async (failure) => {
      answers = { flow: failure };
      await call('flow', MANY);
      expect(open()).toEqual([]);
    },
  );

  it('a failed stop is no failure of the status that was asked before', async () => {
    answers = { stop: 'http' };
    for (let poll = 0; poll < MANY; poll += 1) {
      await call('card_status');
      await call('stop');
    }
    expect(open()).toEqual(['stop']);
  });

  it.each(['connect', 'auth'] as const)(
    '%s of every interface in use is one of the whole gateway',
    async (failure) => {
      answers = { realname: failure, flow: failure, card_status: failure };
      await call('realname', MANY);
      await call('flow', 1);
      expect(open()).toEqual(['realname']);
      await call('flow', MANY);
      expect(open()).toEqual(['gateway']);
      answers = {};
      await call('flow');
      expect(open()).toEqual(['realname']);
    },
  );

  it('different failures of every interface are no failure of the whole gateway', async () => {
    answers = { realname: 'connect', flow: 'http' };
    await call('realname', MANY);
    await call('flow', MANY);
    expect(open()).toEqual(['realname', 'flow']);
  });
});

it('lets one stop a second pass while stops fail, and reports the others as certainly not made', async () => {
  answers = { stop: 'http' };
  await call('stop', MANY);
  asked = 0;
  await call('stop');
  expect(asked, 'the trickle').toBe(1);
  const held = await make('stop').catch((error: unknown) => error);
  expect(held).toMatchObject({ failure: 'held', isRefusal: true, isGatewayFault: false });
  expect(held).toMatchObject({ message: 'calls to stop are held back: it fails at the gateway' });
  expect(asked).toBe(1);
  clock.advance(1_000);
  answers = {};
  await call('stop', 12);
  expect(gateway.breakers()).toEqual([]);
});

it('does not say that an interface fails that was not called before', async () => {
  const made = Array.from({ length: 11 }, () => make('start'));
  const [held] = (await Promise.allSettled(made)).filter(({ status }) => status === 'rejected');
  expect(held).toMatchObject({
    reason: {
      failure: 'held',
      message: 'calls to start are held back: their number grows with each success, from 10 at a time',
    },
  });
});

describe('a call that follows a poll', () => {
  const refusal = (withinMs: number) =>
    gateway.gather('stop', withinMs).then(
      () => null,
      (error: unknown) => error,
    );

  it('waits for the rate limits until its deadline, and is otherwise certainly not made', async () => {
    const waits: unknown[] = [];
    pace.followUp = async (...wait) => {
      waits.push(wait);
      return null;
    };
    expect(await refusal(400)).toMatchObject({ failure: 'held', isRefusal: true, isGatewayFault: false });
    expect(waits).toEqual([['stop', 400, {}]]);
    expect(open()).toEqual([]);
  });

  it('is not made either when the live store does not answer', async () => {
    pace.followUp = () => Promise.reject(new Error('no answer'));
    expect(await refusal(400)).toMatchObject({ failure: 'held', isRefusal: true });
  });

  it('asks for nothing when it is the call that a poll begins with', async () => {
    pace.followUp = () => Promise.reject(new Error('not needed'));
    await gateway.call('card_status', CARD, 1_000);
    expect(asked).toBe(1);
  });

  it('gives everything back that is not used, once', async () => {
    const pass = await gateway.gather('stop', 400);
    pass.giveBack();
    pass.giveBack();
    expect(givenBack).toEqual(['connection', 'call']);
  });

  it('gives the call back when there is no connection for it while it lives, and asks again', async () => {
    connections = [false, true];
    const pass = await gateway.gather('stop', 400);
    expect(givenBack).toEqual(['call']);
    await gateway.call('stop', CARD, 1_000, pass);
    pass.giveBack();
    expect([asked, givenBack]).toEqual([1, ['call', 'connection']]);
  });

  it('asks for another call when the claim took longer than its own lives', async () => {
    const pass = await gateway.gather('stop', 400);
    pace.renewed = async () => null;
    const error = await gateway.call('stop', CARD, 1_000, pass).catch((held: unknown) => held);
    expect(error).toMatchObject({ failure: 'held', isRefusal: true });
    expect([asked, givenBack, metered]).toEqual([0, ['connection'], []]);
  });
});

it('times every call that was made, and none that was held back', async () => {
  tookMs = 40;
  await call('flow');
  answers = { stop: 'http' };
  await call('stop', MANY + 10);
  expect(metered.slice(0, 2)).toEqual(['flow succeeded 40', 'stop failed 40']);
  expect(metered).toHaveLength(1 + MANY + 1);
});

describe('a refused call', () => {
  const settledWithin = async (ms: number) => {
    let settled = false;
    const call = gateway.call('flow', CARD, 1_000).catch(() => {
      settled = true;
    });
    await clock.run(ms);
    const done = settled;
    await clock.run(5_000);
    await call;
    return done;
  };

  it('holds its slot for as long as a success takes', async () => {
    tookMs = 200;
    await call('flow');
    [answers, tookMs] = [{ flow: 'backpressure' }, 50];
    expect(await settledWithin(149)).toBe(false);
    expect(await settledWithin(151)).toBe(true);
  });

  it('holds it for a second at most, and not at all before the first success', async () => {
    answers = { flow: 'backpressure' };
    expect(await settledWithin(0)).toBe(true);
    [answers, tookMs] = [{}, 4_000];
    await call('flow');
    [answers, tookMs] = [{ flow: 'backpressure' }, 0];
    expect(await settledWithin(999)).toBe(false);
    expect(await settledWithin(1_001)).toBe(true);
  });
});

describe('making room', () => {
  it('ends calls that take ten times as long as successes do on average, half a second at least', async () => {
    tookMs = 20;
    await call('flow');
    gateway.makeRoom('flow');
    tookMs = 1_020;
    await call('flow');
    gateway.makeRoom('flow');
    expect(endedSlow).toEqual([
      ['flow', 500],
      ['flow', 10 * (0.9 * 20 + 0.1 * 1_020)],
    ]);
  });

  it('is done every fifty milliseconds at most, by interface', async () => {
    await call('flow');
    await call('realname');
    gateway.makeRoom('flow');
    clock.advance(49);
    gateway.makeRoom('flow');
    gateway.makeRoom('realname');
    clock.advance(1);
    gateway.makeRoom('flow');
    expect(endedSlow.map((call) => (call as unknown[])[0])).toEqual(['flow', 'realname', 'flow']);
  });

  it('ends nothing before the first success, nor when none came for two seconds: the gateway is slow', async () => {
    gateway.makeRoom('flow');
    await call('flow');
    clock.advance(2_001);
    gateway.makeRoom('flow');
    expect(endedSlow).toEqual([]);
  });
});

it('reports no interface that nothing holds back', () => {
  expect(gateway.breakers()).toEqual([]);
  expect(gateway.isStoppedStatus('stopped')).toBe(true);
});
