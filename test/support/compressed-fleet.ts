// A fleet in compressed time: the real workers, scheduler, flow control, concurrency controller, result writer and
// embedded live store, with a gateway in this process that answers as the test says, and records of nothing but usage.
// Ten minutes take seconds.

import { pino } from 'pino';
import type { Card } from '../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../src/domain/cards/month-calendar.ts';
import type { UsageMonth } from '../../src/domain/cards/usage-month.ts';
import type { InterfaceName } from '../../src/domain/gateway-interface.ts';
import type { RateLimit } from '../../src/domain/limits/rate-limit.ts';
import type { PollOutcome } from '../../src/domain/results/poll-outcome.ts';
import { mix32 } from '../../src/domain/schedule/phase.ts';
import { ConfigMatcher, type PollingConfig } from '../../src/domain/schedule/polling-config.ts';
import type { TaskType } from '../../src/domain/task-type.ts';
import { callPaceOf } from '../../src/engine/limits/call-pace.ts';
import { ConcurrencyController } from '../../src/engine/limits/concurrency-controller.ts';
import { OrderCalls } from '../../src/engine/orders/order-calls.ts';
import { OrderWorker } from '../../src/engine/orders/order-worker.ts';
import { ResultWriter } from '../../src/engine/results/result-writer.ts';
import { ringOf, Scheduler } from '../../src/engine/schedule/scheduler.ts';
import { StatsRecorder } from '../../src/engine/stats/stats-recorder.ts';
import { makeTask } from '../../src/engine/tasks/reading-tasks.ts';
import type { CardReader } from '../../src/engine/work/card-reader.ts';
import { Worker } from '../../src/engine/work/worker.ts';
import { FlowControlledGateway } from '../../src/gateway/flow/flow-control.ts';
import { GatewayError, type GatewayFailure, type UpstreamGateway } from '../../src/gateway/gateway.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { NotWritten, RecordStore } from '../../src/store/ports/records/record-store.ts';
import { card } from './cards.ts';
import { FakeClock } from './fake-clock.ts';
import { HEALTHY_VALUES } from './healthy-answers.ts';
import { setLimit } from './limits.ts';
import { ONE_CARD_A_CALL } from './one-card-calls.ts';
import { UNLIMITED } from './stop-rules.ts';
import { openPacedLiveStore } from './virtual-pace.ts';

export interface Answer {
  /** A success when absent. */
  readonly failure?: GatewayFailure;
  readonly retryAfterMs?: number;
  readonly delayMs?: number;
}

/** @param inFlight calls at the gateway, this one included */
export type Behaviour = (interfaceName: InterfaceName, cardId: number, inFlight: number) => Answer;

export interface CompressedFleetOptions {
  readonly taskTypes: readonly TaskType[];
  readonly cards: number;
  readonly intervalSeconds: number;
  readonly limit: number;
  readonly queueCap?: number;
  readonly buckets?: number;
  /** Of the gateway, for all task types. */
  readonly ceiling?: number;
  /** Instances that poll; 1 when absent. */
  readonly instances?: number;
  readonly rateLimits?: readonly RateLimit[];
  /** What task package asks; none when absent. */
  readonly records?: Pick<RecordStore, 'stops' | 'orders'>;
  /** Of every card; unlimited when absent. */
  readonly allowanceMb?: number;
}

export const HEALTHY: Behaviour = () => ({});
const LATENCY_MS = 50;
const TIMEOUT_MS = 5_000;

export class CompressedFleet {
  readonly time = new FakeClock();
  readonly live: LiveStore = openPacedLiveStore({ clock: this.time });
  readonly breakerChanges: string[] = [];
  behaviour: Behaviour = HEALTHY;
  /** What the gateway shows of a card's usage. */
  usedMb: (cardId: number) => number = () => 0;
  readonly usage = new Map<number, UsageMonth>();
  /** Cards that the gateway has stopped. */
  readonly stopped = new Set<number>();
  /** Called with the interface and the card of every call, and of every call that the gateway answered well. */
  onCall: (interfaceName: InterfaceName, cardId: number) => void = () => {};
  onSuccess: (interfaceName: InterfaceName, cardId: number) => void = () => {};
  readonly #services: Array<{ start(): Promise<void>; stop(): Promise<void> }> = [];
  readonly #gateway = this.#makeGateway();
  #drawn = 1;
  /** The same numbers in every run. */
  readonly #random = () => {
    this.#drawn = mix32(this.#drawn + 0x9e3779b9);
    return this.#drawn / 2 ** 32;
  };
  #writer: ResultWriter | null = null;
  #rateLimits: readonly RateLimit[] = [];
  /** null: no card is stopped. */
  #records: Pick<RecordStore, 'stops' | 'orders'> | null = null;
  #allowanceMb: number | null = null;
  #join: (instanceId: string) => Promise<void> = async () => {};

  static async start(options: CompressedFleetOptions): Promise<CompressedFleet> {
    const fleet = new CompressedFleet();
    await fleet.#start(options);
    return fleet;
  }

  async stop(): Promise<void> {
    const stopped = Promise.all(this.#services.map((service) => service.stop())).then(() =>
      this.#writer?.stop(),
    );
    await this.time.run(60_000);
    await stopped;
  }

  async #start(options: CompressedFleetOptions): Promise<void> {
    const { taskTypes, cards, intervalSeconds, limit, queueCap = 200_000, buckets = 64 } = options;
    const { live, time } = this;
    this.#rateLimits = options.rateLimits ?? [];
    this.#records = options.records ?? this.#records;
    this.#allowanceMb = options.allowanceMb ?? null;
    const configs = taskTypes.map(
      (taskType, i): PollingConfig => ({
        id: i + 1,
        name: taskType,
        taskType,
        cardCondition: 'any',
        carrierId: null,
        intervalSeconds,
        priority: 1,
        status: 1,
      }),
    );
    const matcher = new ConfigMatcher(configs);
    for (const config of configs) {
      await live.rings.configure(ringOf(config), { intervalMs: intervalSeconds * 1_000, enabled: true });
      await live.rings.startGeneration(ringOf(config), buckets);
      await live.rings.add(
        ringOf(config),
        Array.from({ length: cards }, (_, card) => card + 1),
      );
      await setLimit(live.work, config.taskType, limit);
    }
    const scheduler = new Scheduler({
      rings: live.rings,
      matcher: () => matcher,
      fence: () => 1,
      queueCap,
      clock: time,
      onError: raise,
    });
    this.#writer = new ResultWriter({
      live,
      records: {
        results: { write: async (outcomes) => this.#write(outcomes) },
        triggers: { count: async () => {}, defer: async () => {} },
      },
      meter: { settled: () => {} },
      onWritten: async (outcomes) => {
        const over = outcomes.filter((outcome) => outcome.overPackage).map(({ cardId }) => cardId);
        await this.#records?.orders.want(over, '2026-11', UNLIMITED, () => true);
      },
      log: {
        error: raise,
        warn: ({ count }: { count: number }) => raise(new Error(`${count} results were fenced`)),
      },
      onError: (_, error) => raise(error),
      clock: time,
      random: this.#random,
      writeBuffer: 20_000,
      retryBaseMs: 1_000,
      leaseMs: 15_000,
    });
    const controller = new ConcurrencyController({
      live,
      fence: () => 1,
      adaptiveConcurrency: true,
      ceiling: options.ceiling ?? null,
      clock: time,
      log: pino({ enabled: false }),
      digest: { note: () => {} },
      onError: raise,
    });
    this.#services.push(scheduler, controller);
    for (const service of this.#services) await service.start();
    this.#join = (instanceId) => this.#addInstance(instanceId, taskTypes, matcher);
    for (let i = 0; i < (options.instances ?? 1); i += 1) await this.join(i === 0 ? 'w' : `w${i}`);
  }

  /** Starts one more instance that polls. */
  async join(instanceId: string): Promise<void> {
    await this.#join(instanceId);
  }

  #write(outcomes: readonly PollOutcome[]): NotWritten {
    for (const { cardId, usage } of outcomes) if (usage !== undefined) this.usage.set(cardId, usage.next);
    return { staleUsage: [], otherIccid: [] };
  }

  async #addInstance(instanceId: string, taskTypes: readonly TaskType[], matcher: ConfigMatcher) {
    const means = { clock: this.time, onError: raise };
    const stats = new StatsRecorder({
      live: this.live,
      instanceId,
      meter: { poll: () => {} },
      ...means,
    });
    const services = [stats, ...this.#workers(instanceId, taskTypes, stats, matcher)];
    for (const service of services) await service.start();
    this.#services.push(...services);
  }

  #workers(
    instanceId: string,
    taskTypes: readonly TaskType[],
    stats: StatsRecorder,
    matcher: ConfigMatcher,
  ): Worker[] {
    const { live, time } = this;
    const writer = this.#writer as ResultWriter;
    const log = pino({ enabled: false });
    const onError = raise;
    const pace = callPaceOf(this.#rateLimits, { pace: live.pace, clock: time, log, onError });
    if (pace !== null) {
      void pace.start();
      this.#services.push(pace);
    }
    const gateway = new FlowControlledGateway({
      gateway: this.#gateway,
      cardsPerCall: () => 1,
      pace,
      meter: { gatewayCall: () => {} },
      clock: time,
      random: this.#random,
      onChange: (name, state) => this.breakerChanges.push(`${name} ${state}`),
    });
    const calendar = new MonthCalendar('Asia/Shanghai');
    const records = this.#records;
    const reader = {
      read: async (ids: readonly number[]) => cardsOf(ids, this.usage, this.#allowanceMb),
      forget: async () => {},
    } as unknown as CardReader;
    const audit = { log: () => {} };
    const stopRules = () => UNLIMITED;
    const meter = { implausibleReading: () => {} };
    const stops = records?.stops ?? ({} as RecordStore['stops']);
    const deps = { gateway, records: { stops }, audit, calendar, maxMbitPerSecond: 150, meter, log };
    if (records !== null) {
      const calls = new OrderCalls({
        ...{ gateway, reader, audit, calendar, stopRules, leaseMs: 15_000, clock: time, log },
        records: { stops, resumes: {} as RecordStore['resumes'] },
        fleetNow: () => time.now(),
      });
      const orders = new OrderWorker({
        ...{ calls, live, records, gateway, stopRules, clock: time, log, onError, random: this.#random },
        ...{ offers: () => true, matcher: () => matcher, isPaced: pace !== null, leaseMs: 15_000 },
      });
      void orders.start();
      this.#services.push(orders);
    }
    return taskTypes.map(
      (taskType) =>
        new Worker({
          task: makeTask(taskType, deps),
          instanceId,
          live,
          meter: { claimed: () => {} },
          reader,
          writer,
          stats,
          flow: gateway,
          cardsPerCall: () => 1,
          pace,
          matcher: () => matcher,
          fleetClock: { timeOf: (claimedAtMs) => claimedAtMs },
          clock: time,
          leaseMs: 15_000,
          claimBatch: 200,
          log,
          onError: raise,
        }),
    );
  }

  #makeGateway(): UpstreamGateway {
    const calls = new Set<{ name: InterfaceName; startedAt: number; end: () => void }>();
    return {
      ...ONE_CARD_A_CALL,
      isStoppedStatus: (status) => status === 'stopped',
      call: async (name, card, timeoutMs) => {
        this.onCall(name, card.cardId);
        const startedAt = this.time.monotonic();
        let end = () => {};
        const ended = new Promise<'early'>((resolve) => {
          end = () => resolve('early');
        });
        const call = { name, startedAt, end };
        calls.add(call);
        const { failure, delayMs = LATENCY_MS, ...details } = this.behaviour(name, card.cardId, calls.size);
        const durationMs = Math.min(delayMs, timeoutMs, TIMEOUT_MS);
        const outcome = await Promise.race([this.time.sleep(durationMs), ended]);
        calls.delete(call);
        if (outcome === 'early') throw new GatewayError('timeout', 'ended to make room');
        if (failure !== undefined) throw new GatewayError(failure, 'as the test says', details);
        this.onSuccess(name, card.cardId);
        if (name === 'stop') this.stopped.add(card.cardId);
        if (name === 'card_status' && this.stopped.has(card.cardId)) return { value: 'stopped', durationMs };
        const value = name === 'flow' ? this.usedMb(card.cardId) : HEALTHY_VALUES[name];
        return { value, durationMs };
      },
      endSlowCalls: (name, olderThanMs) => {
        const own = [...calls].filter((call) => call.name === name);
        const slow = own.filter(({ startedAt }) => this.time.monotonic() - startedAt > olderThanMs);
        for (const { end } of slow.slice(0, Math.max(0, slow.length - Math.ceil(own.length / 4)))) end();
      },
    };
  }
}

function cardsOf(
  ids: readonly number[],
  usage: ReadonlyMap<number, UsageMonth>,
  allowanceMb: number | null,
): Map<number, Card> {
  return new Map(
    ids.map((cardId) => [
      cardId,
      card(cardId, {
        ...{ iccid: String(cardId), realNameVerified: true, allowanceMb },
        usage: usage.get(cardId) ?? null,
      }),
    ]),
  );
}

function raise(error: unknown): never {
  throw error;
}
