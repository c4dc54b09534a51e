// How many orders are taken, and when: by the slots of package that are free, by what the gateway takes, and one after the other where
// calls are short. The live store is the embedded one; the records and the calls are made up.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import type { Gather } from '../../../../src/engine/orders/order-calls.ts';
import { OrderWorker, type OrderWorkerDeps } from '../../../../src/engine/orders/order-worker.ts';
import { GatewayError, type Permit } from '../../../../src/gateway/gateway.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { Order, OrderTurn } from '../../../../src/store/ports/records/order-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore, setLimit } from '../../../support/limits.ts';
import { PASS } from '../../../support/one-card-calls.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';

const LEASE_MS = 15_000;
const CONFIG: PollingConfig = {
  ...{ id: 1, name: 'package', taskType: 'package', cardCondition: 'any', carrierId: 1 },
  ...{ intervalSeconds: 1_800, priority: 0, status: 1 },
};
const orderOf = (cardId: number, differing: Partial<Order> = {}): Order => ({
  ...{ cardId, iccid: `${cardId}`, vendorId: null, carrierId: 1, realNameVerified: true },
  ...{ kind: 'stop', isOperators: false, ...differing },
});

let clock: FakeClock;
let live: LiveStore;
let due: Order[];
let turns: OrderTurn[];
let permit: Permit;
/** Orders that are carried out, and how each of them goes on. */
let running: Map<number, { readonly gather: Gather; end(error?: unknown): void }>;
let givenBack: number;
let gathering: Array<() => void> | null;
let participants: string[];
let logged: Array<Record<string, unknown>>;
let worker: OrderWorker;

/** The orders of a turn's kinds that are due. */
const of = ({ stops, resumes }: Pick<OrderTurn, 'stops' | 'resumes'>) =>
  due.filter(({ kind }) => (kind === 'stop' ? stops : resumes));

function make(differing: Partial<OrderWorkerDeps> = {}): OrderWorker {
  worker = new OrderWorker({
    calls: {
      carryOut: ({ cardId }, gather) =>
        new Promise((resolve, reject) => {
          const end = (error?: unknown) => (error === undefined ? resolve() : reject(error));
          running.set(cardId, { gather, end });
        }),
    },
    live,
    records: {
      orders: {
        due: async (turn) => Math.min(turn.most, of(turn).length),
        take: async (turn) => {
          turns.push(turn);
          const taken = of(turn).slice(0, turn.most);
          due = due.filter((order) => !taken.includes(order));
          return taken;
        },
      },
    },
    gateway: {
      giveBack: () => {
        givenBack += 1;
      },
      permit: () => permit,
      gather: async (_, __, means) => {
        participants.push(means?.participant ?? '');
        if (gathering !== null) await new Promise<void>((resolve) => gathering?.push(resolve));
        return PASS;
      },
    },
    offers: () => true,
    matcher: () => new ConfigMatcher([CONFIG]),
    stopRules: () => UNLIMITED,
    isPaced: false,
    leaseMs: LEASE_MS,
    random: () => 0,
    clock,
    onError: (error) => expect.unreachable(String(error)),
    log: pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    ...differing,
  });
  return worker;
}

beforeEach(async () => {
  clock = new FakeClock('2026-11-15T00:00:00Z');
  live = openLimitedLiveStore({ clock });
  await setLimit(live.work, 'package', 3);
  permit = { calls: Number.POSITIVE_INFINITY, trickle: false };
  [due, turns, running, gathering, participants, logged, givenBack] = [[], [], new Map(), null, [], [], 0];
});
afterEach(async () => {
  for (const { end } of running.values()) end();
  await worker.stop();
});

const held = async () => (await live.work.runningCount('package')).held;
/** Lets what was begun go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('takes as many orders as slots are free, and gives each slot back when its order has ended', async () => {
  due = [1, 2, 3, 4, 5].map((cardId) => orderOf(cardId));
  make();
  expect(await worker.runOnce()).toBe(0);
  expect([worker.inFlight, await held()]).toEqual([3, 3]);
  await worker.runOnce();
  expect(turns).toHaveLength(1);
  running.get(2)?.end();
  await settled();
  expect([worker.inFlight, await held()]).toEqual([2, 2]);
  await worker.runOnce();
  expect([...running.keys()]).toEqual([1, 2, 3, 4]);
});

it('gives slots back for which there is no order', async () => {
  due = [orderOf(1)];
  make({ records: { orders: { due: async () => 3, take: async () => due.splice(0) } } });
  await worker.runOnce();
  expect(await held()).toBe(1);
});

it('takes none while package is paused, nor before its limit is in force', async () => {
  due = [orderOf(1)];
  make();
  await live.work.pause('package', { ms: 60_000, reason: 'a test', by: 'w' });
  expect(await worker.runOnce()).toBeGreaterThan(0);
  live = openLimitedLiveStore({ clock });
  make({
    live: { work: { ...live.work, claimSlots: async () => ({ inForce: false, slots: [], pausedMs: 0 }) } },
  });
  expect(await worker.runOnce()).toBeGreaterThan(0);
  expect(turns).toEqual([]);
});

it('leaves out the stop that a reading ordered of a card that no enabled config polls', async () => {
  due = [orderOf(1, { carrierId: 7 }), orderOf(2, { carrierId: 7, isOperators: true }), orderOf(3)];
  await make().runOnce();
  expect([...running.keys()]).toEqual([2, 3]);
});

it('asks for stops or resumes only where the gateway offers them, by the mode of this instance', async () => {
  due = [orderOf(1)];
  await make({
    offers: (name) => name !== 'start',
    stopRules: () => ({ ...UNLIMITED, mode: 'observe' }),
  }).runOnce();
  expect(turns).toMatchObject([{ most: 1, stops: true, resumes: false, mode: 'observe', resumesFirst: 0 }]);
  due = [orderOf(2)];
  for (const none of ['card_status', 'all'])
    await make({ offers: (name) => none !== 'all' && name !== none }).runOnce();
  expect(turns).toHaveLength(1);
});

it('has resumes come first in a tenth of the turns', async () => {
  await setLimit(live.work, 'package', 100);
  due = Array.from({ length: 40 }, (_, i) => orderOf(i + 1));
  await make({ random: () => 0.95 }).runOnce();
  expect(turns[0]?.resumesFirst).toBe(4);
});

describe('where calls are short', () => {
  it('takes one order at a time, and the next when it waits for no call', async () => {
    due = [orderOf(1), orderOf(2)];
    gathering = [];
    make({ isPaced: true });
    await worker.runOnce();
    const passed = running.get(1)?.gather('card_status');
    await worker.runOnce();
    expect([...running.keys()]).toEqual([1]);
    gathering[0]?.();
    await passed;
    await worker.runOnce();
    expect([...running.keys()]).toEqual([1, 2]);
  });

  it('asks as an order for the first call, and as one that follows for the others', async () => {
    due = [orderOf(1)];
    await make({ isPaced: true }).runOnce();
    for (const name of ['card_status', 'stop', 'card_status'] as const) await running.get(1)?.gather(name);
    expect(participants).toEqual(['order', 'follow_up', 'follow_up']);
  });

  it('changes a slot that would end before the call', async () => {
    due = [orderOf(1)];
    await make({ isPaced: true }).runOnce();
    clock.advance(LEASE_MS / 2);
    await running.get(1)?.gather('stop');
    clock.advance(LEASE_MS - 1);
    expect((await live.work.runningCount('package')).live).toBe(1);
    await setLimit(live.work, 'package', 0);
    const refused = expect(running.get(1)?.gather('card_status')).rejects.toMatchObject({ failure: 'held' });
    await clock.run(1_000);
    await refused;
  });

  it.each([
    [
      'paused',
      () => live.work.pause('package', { ms: 60_000, reason: 'a test', by: 'w' }),
      'package is paused',
    ],
    [
      'limited to none',
      () => setLimit(live.work, 'package', 0),
      'no slot under the limit of package is free',
    ],
  ])('makes no call after a long wait in which package was %s', async (_, change, message) => {
    due = [orderOf(1)];
    gathering = [];
    await make({ isPaced: true }).runOnce();
    const refused = expect(running.get(1)?.gather('stop')).rejects.toMatchObject({
      failure: 'held',
      message,
    });
    clock.advance(1_000);
    await change();
    gathering[0]?.();
    await clock.run(1_000);
    await refused;
  });
});

describe('after a failure', () => {
  it.each([
    ['of the gateway', new GatewayError('timeout', 'no answer'), 0],
    ['of a store', new Error('no connection'), 0],
    ['of the card', new GatewayError('business', 'no such card'), 2],
  ])(
    '%s: one order of the kind is tried a second later, unless the card is at fault',
    async (_, error, more) => {
      due = [orderOf(1), orderOf(2), orderOf(3)];
      make();
      due = [orderOf(1)];
      await worker.runOnce();
      running.get(1)?.end(error);
      await settled();
      due = [orderOf(2), orderOf(3)];
      await worker.runOnce();
      expect(running.size - 1).toBe(more);
      expect(logged).toMatchObject([{ level: 40, card_id: 1, order: 'stop', msg: 'order failed' }]);
      if (more > 0) return;
      clock.advance(1_000);
      await worker.runOnce();
      expect([...running.keys()], 'one').toEqual([1, 2]);
      running.get(2)?.end();
      await settled();
      await worker.runOnce();
      expect([...running.keys()]).toEqual([1, 2, 3]);
    },
  );

  it('waits as long as the gateway asked, and resumes go on', async () => {
    due = [orderOf(1)];
    await make().runOnce();
    running.get(1)?.end(new GatewayError('backpressure', 'HTTP 429', { retryAfterMs: 60_000 }));
    await settled();
    clock.advance(59_000);
    due = [orderOf(2, { kind: 'resume' })];
    await worker.runOnce();
    expect(turns.at(-1)).toMatchObject({ stops: false, resumes: true });
  });
});

it('sends one order a second to a dead interface, with all other instances', async () => {
  permit = { calls: 1, trickle: true };
  due = [orderOf(1), orderOf(2)];
  make();
  await worker.runOnce();
  await worker.runOnce();
  expect([...running.keys()]).toEqual([1]);
  clock.advance(1_000);
  await worker.runOnce();
  expect([[...running.keys()], givenBack]).toEqual([[1, 2], 0]);
  await worker.runOnce();
  expect(givenBack, 'the call is for a poll where no order is due').toBe(1);
});

it('takes at once what is ordered while it looks', async () => {
  make();
  const looked = worker.runOnce();
  worker.notice();
  expect(await looked).toBe(0);
  expect(await worker.runOnce()).toBeGreaterThan(0);
});

it('waits for calls in flight when it stops', async () => {
  due = [orderOf(1)];
  make();
  await worker.start();
  while (running.size === 0) await settled();
  let isStopped = false;
  const stopped = worker.stop().then(() => {
    isStopped = true;
  });
  await settled();
  expect(isStopped).toBe(false);
  running.get(1)?.end();
  await stopped;
  expect(await held()).toBe(0);
});
