// Stops at rates so slow that no poll can wait for them, on a clock that the test moves: when the call arrives at the gateway while
// the polls of all types and two instances want every call, and that the gateway counts no more than it allows.
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { type RateLimit, rateWords } from '../../../../src/domain/limits/rate-limit.ts';
import { ConfigMatcher } from '../../../../src/domain/schedule/polling-config.ts';
import { TASK_TYPES, TASKS } from '../../../../src/domain/task-type.ts';
import { type CallPace, callPaceOf } from '../../../../src/engine/limits/call-pace.ts';
import { OrderCalls, type OrderCallsDeps } from '../../../../src/engine/orders/order-calls.ts';
import { OrderWorker, type OrderWorkerDeps } from '../../../../src/engine/orders/order-worker.ts';
import { FlowControlledGateway } from '../../../../src/gateway/flow/flow-control.ts';
import type { Order } from '../../../../src/store/ports/records/order-records.ts';
import { firstRows } from '../../../support/effort.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ONE_CARD_A_CALL } from '../../../support/one-card-calls.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';
import { openPacedLiveStore } from '../../../support/virtual-pace.ts';

const LEASE_MS = 15_000;
const CARD = {
  cardId: 7,
  iccid: '89860000000000000071',
  vendorId: null,
  carrierId: 1,
  realNameVerified: true,
};
const ORDER: Order = { ...CARD, kind: 'stop', isOperators: true };

/** A limit that no other call uses. */
const FREE_SLOTS: OrderWorkerDeps['live']['work'] = {
  claimSlots: async (_, max) => ({
    inForce: true,
    pausedMs: 0,
    slots: Array.from({ length: max }, (_, i) => ({ lane: 'order', member: `${i}`, token: 't' })),
  }),
  release: async () => {},
  hold: async () => {},
};

const clock = () => new FakeClock('2026-11-15T00:00:00Z');

/** Two instances at a gateway that allows so many calls; one of them has a card to stop. */
class SlowGateway {
  readonly clock = clock();
  readonly arrivals: Array<{ readonly at: number; readonly name: string }> = [];
  readonly #live = openPacedLiveStore({ clock: this.clock });
  readonly #log = pino({ enabled: false });
  readonly #own: CallPace;
  readonly #other: CallPace;
  #isStopped = false;
  #isOver = false;

  /** @param cardsPerCall of calls for the status. */
  constructor(
    limit: RateLimit,
    private readonly cardsPerCall: number,
  ) {
    this.#own = this.#paceOf(limit);
    this.#other = this.#paceOf(limit);
  }

  #paceOf(limit: RateLimit): CallPace {
    const means = { pace: this.#live.pace, clock: this.clock, log: this.#log };
    const pace = callPaceOf([limit], {
      ...means,
      onError: (error) => expect.unreachable(String(error)),
    });
    if (pace === null) throw new Error('no limit');
    void pace.start();
    return pace;
  }

  /** Polls of all types that want every call. */
  wantAll(): void {
    for (const pace of [this.#own, this.#other])
      for (const taskType of TASK_TYPES)
        void (async () => {
          const { interface: name } = TASKS[taskType];
          while (!this.#isOver) {
            const { calls, waitMs } = await pace.take(taskType, name, 5);
            for (let i = 0; i < calls; i += 1) this.arrivals.push({ at: this.clock.monotonic(), name });
            await this.clock.sleep(Math.min(1_000, Math.max(10, waitMs)));
          }
        })();
  }

  /** Has an order worker carry out the order to stop the card, until its stop is confirmed. */
  async stopCard(): Promise<void> {
    const upstream = {
      ...ONE_CARD_A_CALL,
      endSlowCalls: () => {},
      isStoppedStatus: (status: string) => status === 'stopped',
      call: async (name: string) => {
        this.arrivals.push({ at: this.clock.monotonic(), name });
        if (name === 'stop') this.#isStopped = true;
        return { value: this.#isStopped ? 'stopped' : 'active', durationMs: 1 };
      },
      callBatch: async (name: string, cards: readonly unknown[]) => {
        this.arrivals.push({ at: this.clock.monotonic(), name });
        return cards.map(() => ({ value: this.#isStopped ? 'stopped' : 'active', durationMs: 1 }));
      },
    };
    const gateway = new FlowControlledGateway({
      gateway: upstream,
      cardsPerCall: (name) => (name === 'card_status' ? this.cardsPerCall : 1),
      pace: this.#own,
      meter: { gatewayCall: () => {} },
      clock: this.clock,
      random: () => 0,
      onChange: () => {},
    });
    let done = () => {};
    const isDone = new Promise<void>((resolve) => {
      done = resolve;
    });
    const records = {
      stops: {
        claim: async () => ({ state: 'granted', month: '2026-11', attempt: 1 }),
        complete: async () => {
          if (this.#isStopped) done();
          return null;
        },
      },
    } as unknown as OrderCallsDeps['records'];
    let isTaken = false;
    const worker = new OrderWorker({
      calls: new OrderCalls({
        ...{ gateway, records, leaseMs: LEASE_MS, clock: this.clock, log: this.#log },
        calendar: new MonthCalendar('Asia/Shanghai'),
        stopRules: () => UNLIMITED,
        fleetNow: () => this.clock.now(),
        audit: { log: () => {} },
        reader: { forget: async () => {} },
      }),
      records: {
        orders: {
          due: async () => Number(!isTaken),
          take: async () => {
            const taken = isTaken ? [] : [ORDER];
            isTaken = true;
            return taken;
          },
        },
      },
      live: { work: FREE_SLOTS },
      gateway,
      offers: () => true,
      matcher: () => new ConfigMatcher([]),
      stopRules: () => UNLIMITED,
      isPaced: true,
      leaseMs: LEASE_MS,
      random: () => 0,
      clock: this.clock,
      onError: (error) => expect.unreachable(String(error)),
      log: this.#log,
    });
    await worker.start();
    await isDone;
    await worker.stop();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    const stopped = Promise.all([this.#own.stop(), this.#other.stop()]);
    await this.clock.run(2_000);
    await stopped;
  }
}

/** Most calls within any time, less what the rate allows in it. */
function above(arrivals: ReadonlyArray<{ at: number }>, perMs: number): number {
  let most = 0;
  for (let from = 0; from < arrivals.length; from += 1)
    for (let to = from; to < arrivals.length; to += 1) {
      const ms = (arrivals[to]?.at ?? 0) - (arrivals[from]?.at ?? 0);
      most = Math.max(most, to - from + 1 - perMs * ms);
    }
  return most;
}

it.each(
  // An hour is made of more steps of the clock than the others together.
  firstRows(4, [
    [30, 'minute', 2, 1],
    [20, 'minute', 2, 20],
    [6, 'minute', 1, 1],
    [6, 'minute', 1, 100],
    [1, 'hour', 1, 1],
  ] as const),
)(
  'stops a card within three times what %i calls a %s allow one in, while others want all; burst %i, %i cards a status call',
  async (calls, unit, burst, cardsPerCall) => {
    const limit: RateLimit = { kind: 'calls', interfaces: null, calls, unit, burst };
    const gateway = new SlowGateway(limit, cardsPerCall);
    const perMs = calls / { minute: 60_000, hour: 3_600_000 }[unit];
    const { clock: time, arrivals } = gateway;
    gateway.wantAll();
    // Until one of them has got a call: a reading.
    for (let i = 0; i < 12 && arrivals.length < 1; i += 1) await time.run(1 / perMs);
    const count = arrivals.length;
    for (let i = 0; i < 400 && arrivals.length === count; i += 1) await time.run(0.01 / perMs);
    const readAt = time.monotonic();
    const stopped = gateway.stopCard();
    await time.run(3.2 / perMs);
    const stop = arrivals.find(({ name }) => name === 'stop');
    expect(stop, rateWords(perMs * 1_000)).toBeDefined();
    expect(((stop?.at ?? 0) - readAt) * perMs).toBeLessThanOrEqual(3);
    expect(above(arrivals, perMs)).toBeLessThanOrEqual(burst + 1e-6);
    expect(arrivals.filter(({ name }) => name === 'stop')).toHaveLength(1);
    await time.run(3 / perMs);
    await stopped;
    await gateway.close();
  },
);
