// A fleet in compressed time: the real workers, scheduler, flow control, result writer and embedded live store, with a
// gateway in this process that answers as the test says, and records that are only counted. Ten minutes take seconds.
import { pino } from 'pino';
import type { Card } from '../../src/domain/card.ts';
import { ConfigMatcher, type PollingConfig } from '../../src/domain/polling-config.ts';
import type { TaskType } from '../../src/domain/task-type.ts';
import { MonthCalendar } from '../../src/domain/usage-month.ts';
import type { CardReader } from '../../src/engine/card-reader.ts';
import { ResultWriter } from '../../src/engine/result-writer.ts';
import { ringOf, Scheduler } from '../../src/engine/scheduler.ts';
import { StatsRecorder } from '../../src/engine/stats-recorder.ts';
import { makeTask } from '../../src/engine/tasks/make-task.ts';
import { Worker } from '../../src/engine/worker.ts';
import { GatewayFlow } from '../../src/gateway/flow-control.ts';
import {
  type Gateway,
  GatewayError,
  type GatewayFailure,
  type InterfaceName,
} from '../../src/gateway/gateway.ts';
import { GuardedGateway } from '../../src/gateway/guarded-gateway.ts';
import { openEmbeddedLiveStore } from '../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../src/store/ports/live-store.ts';
import type { RecordStore } from '../../src/store/ports/record-store.ts';
import { FakeClock } from './fake-clock.ts';
import { HEALTHY_VALUES } from './healthy-answers.ts';

export interface Answer {
  /** A success when absent. */
  readonly failure?: GatewayFailure;
  readonly retryAfterMs?: number;
  readonly delayMs?: number;
}

export type Behaviour = (interfaceName: InterfaceName, cardId: number) => Answer;

export interface CompressedFleetOptions {
  readonly taskTypes: readonly TaskType[];
  readonly cards: number;
  readonly intervalSeconds: number;
  readonly limit: number;
  readonly queueCap?: number;
  readonly buckets?: number;
}

export const HEALTHY: Behaviour = () => ({});
const LATENCY_MS = 50;

export class CompressedFleet {
  readonly time = new FakeClock();
  readonly live: LiveStore = openEmbeddedLiveStore({ clock: this.time });
  readonly breakerChanges: string[] = [];
  behaviour: Behaviour = HEALTHY;
  /** Told of every call, with the interface and the card. */
  onCall: (interfaceName: InterfaceName, cardId: number) => void = () => {};
  readonly #services: Array<{ start(): Promise<void>; stop(): Promise<void> }> = [];
  #writer: ResultWriter | null = null;

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
    for (const config of configs) {
      await live.rings.configure(ringOf(config), { intervalMs: intervalSeconds * 1_000, enabled: true });
      await live.rings.startGeneration(ringOf(config), buckets, { activate: true });
      await live.rings.add(
        ringOf(config),
        Array.from({ length: cards }, (_, card) => card + 1),
      );
      await live.work.setMaxConcurrency(config.taskType, limit);
    }
    const scheduler = new Scheduler({
      rings: live.rings,
      configs: () => configs,
      fence: () => 1,
      queueCap,
      clock: time,
      onError: raise,
    });
    this.#writer = new ResultWriter({
      work: live.work,
      failures: live.failures,
      results: { write: async () => ({ staleUsage: [] }) },
      triggers: { count: async () => {} },
      onWritten: async () => {},
      onRefused: raise,
      onFenced: (_, count) => raise(new Error(`${count} results were fenced`)),
      onError: (_, error) => raise(error),
      clock: time,
      random: Math.random,
      writeBuffer: 20_000,
      retryBaseMs: 1_000,
    });
    this.#services.push(scheduler, ...this.#workers(taskTypes, this.#writer, new ConfigMatcher(configs)));
    for (const service of this.#services) await service.start();
  }

  #workers(taskTypes: readonly TaskType[], writer: ResultWriter, matcher: ConfigMatcher): Worker[] {
    const { live, time } = this;
    const log = pino({ enabled: false });
    const flow = new GatewayFlow({
      clock: time,
      random: Math.random,
      onChange: (name, phase) => this.breakerChanges.push(`${name} ${phase}`),
    });
    const gateway = new GuardedGateway(this.#gateway(), flow);
    const calendar = new MonthCalendar('Asia/Shanghai');
    const stops = {} as RecordStore['stops'];
    const reader = {
      read: async (ids: readonly number[]) => cardsOf(ids),
      forget: async () => {},
    } as unknown as CardReader;
    const audit = { tell: () => {} };
    const deps = { gateway, stops, audit, reader, calendar, leaseMs: 15_000, log };
    const workers: Worker[] = taskTypes.map(
      (taskType) =>
        new Worker({
          task: makeTask(taskType, deps),
          workerId: 'w',
          work: live.work,
          reader,
          writer,
          stats: new StatsRecorder(live.stats, 'w', { poll: () => {} }, { clock: time, onError: raise }),
          flow,
          totalInFlight: () => workers.reduce((sum, worker) => sum + worker.inFlight, 0),
          matcher: () => matcher,
          clock: time,
          leaseMs: 15_000,
          claimBatch: 200,
          log,
          onError: raise,
        }),
    );
    return workers;
  }

  #gateway(): Gateway {
    return {
      isStoppedStatus: () => false,
      call: async (name, card, timeoutMs) => {
        this.onCall(name, card.cardId);
        const { failure, delayMs = LATENCY_MS, ...details } = this.behaviour(name, card.cardId);
        const durationMs = Math.min(delayMs, timeoutMs, 5_000);
        await this.time.sleep(durationMs);
        if (failure !== undefined) throw new GatewayError(failure, 'as the test says', details);
        return { value: HEALTHY_VALUES[name], durationMs };
      },
    };
  }
}

function cardsOf(ids: readonly number[]): Map<number, Card> {
  return new Map(
    ids.map((cardId) => [
      cardId,
      {
        cardId,
        iccid: String(cardId),
        carrierId: 1,
        status: 1,
        realNameVerified: true,
        stopped: false,
        allowanceMb: null,
        usage: null,
      },
    ]),
  );
}

function raise(error: unknown): never {
  throw error;
}
