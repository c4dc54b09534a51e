// Which calls count for which interface, what is held back, and when slow calls make room. How one interface is
// throttled: throttle.test.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import type { InterfaceName } from '../../../src/domain/gateway-interface.ts';
import { FlowControlledGateway, type FollowUpPace } from '../../../src/gateway/flow-control.ts';
import { GatewayError, type GatewayFailure } from '../../../src/gateway/gateway.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ONE_CARD_A_CALL } from '../../support/one-card-calls.ts';

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

beforeEach(() => {
  clock = new FakeClock();
  clock.advance(1_000_000);
  [changes, metered, endedSlow, answers] = [[], [], [], {}];
  [tookMs, asked] = [0, 0];
  pace = { followUp: async () => true };
  gateway = new FlowControlledGateway({
    clock,
    cardsPerCall: () => 1,
    pace: { followUp: (...wait) => pace.followUp(...wait) },
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
      isStoppedStatus: (status) => status === 'stopped',
      endSlowCalls: (...slow) => endedSlow.push(slow),
    },
  });
});

async function call(name: InterfaceName, times = 1): Promise<void> {
  for (let i = 0; i < times; i += 1) await gateway.call(name, CARD, 1_000).catch(() => {});
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

  it('of a stop is no failure of the status that was asked before', async () => {
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

  it('of every interface in different ways is none of the whole gateway', async () => {
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
  const held = await gateway.call('stop', CARD, 1_000).catch((error: unknown) => error);
  expect(held).toMatchObject({ failure: 'held', isRefusal: true, isGatewayFault: false });
  expect(held).toMatchObject({ message: 'calls to stop are held back: it fails at the gateway' });
  expect(asked).toBe(1);
  clock.advance(1_000);
  answers = {};
  await call('stop', 12);
  expect(gateway.breakers()).toEqual([]);
});

it('does not say that an interface fails that was not called before', async () => {
  const made = Array.from({ length: 11 }, () => gateway.call('start', CARD, 1_000));
  const [held] = (await Promise.allSettled(made)).filter(({ status }) => status === 'rejected');
  expect(held).toMatchObject({
    reason: {
      failure: 'held',
      message: 'calls to start are held back: their number grows with each success, from 10 at a time',
    },
  });
});

describe('a call that follows a poll', () => {
  const refusal = (startWithinMs?: number) =>
    gateway.call('stop', CARD, 1_000, startWithinMs).then(
      () => null,
      (error: unknown) => error,
    );

  it('waits for the rate limits as long as it is told, and is otherwise certainly not made', async () => {
    const waits: unknown[] = [];
    pace.followUp = async (...wait) => {
      waits.push(wait);
      return false;
    };
    expect(await refusal(400)).toMatchObject({ failure: 'held', isRefusal: true, isGatewayFault: false });
    expect(waits).toEqual([['stop', 400]]);
    expect([asked, open()]).toEqual([0, []]);
  });

  it('is not made either when the live store does not answer', async () => {
    pace.followUp = () => Promise.reject(new Error('no answer'));
    expect(await refusal(400)).toMatchObject({ failure: 'held', isRefusal: true });
    expect(asked).toBe(0);
  });

  it('asks for nothing when it is the call that a poll begins with', async () => {
    pace.followUp = () => Promise.reject(new Error('not needed'));
    expect(await refusal()).toBeNull();
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
