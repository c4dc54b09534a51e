// One run of the flow bench: fresh stores, a fleet of cards, the built binary and a gateway that is healthy, polled until
// the pace is steady. A scenario then begins its trouble at the gateway and reads the rates. Used by the scenarios.
import { setTimeout as sleep } from 'node:timers/promises';
import type { InterfaceName } from '../../../src/domain/gateway-interface.ts';
import { TASK_TYPES, TASKS } from '../../../src/domain/task-type.ts';
import { waitFor } from '../../support/wait-for.ts';
import { putJson, type RunningBinary, Stack } from '../stack.ts';
import type { FlowOptions } from './options.ts';
import { Pace } from './pace.ts';
import { TroubledGateway } from './troubled-gateway.ts';

export const POLLED: readonly InterfaceName[] = TASK_TYPES.map((taskType) => TASKS[taskType].interface);

export interface SetUp {
  readonly cards: number;
  readonly intervalSeconds: number;
  /** max_concurrency of each task type. */
  readonly limit: number;
  readonly latencyMs: number;
}

export const CARDS = 6_000;
const USUAL: SetUp = { cards: CARDS, intervalSeconds: 30, limit: 100, latencyMs: 20 };
/** Longer than the daemon's own deadline, which is 5 s. */
const LATE_MS = 5_500;
/** Carriers 1 to 10, see carrierOf. */
const CARRIERS = 10;

/** A daemon that has just begun reads every card for the first time. */
const WARM_UP_MS = 10_000;
const WINDOW_MS = 3_000;
/** Of what comes due: when so much is polled the cards are scheduled. Where it never comes to that, patience ends. */
const SCHEDULED = 0.7;
const PATIENCE_MS = 60_000;
/** Less than this of what comes due, and the numbers are the machine's rather than the product's. */
const BUSY = 0.95;
const SAMPLE_MS = 500;
const BACK_WINDOW_MS = 2_000;

/** Each a second. */
export interface Rates {
  readonly good: ReadonlyMap<InterfaceName, number>;
  readonly calls: ReadonlyMap<InterfaceName, number>;
}

export function carrierOf(cardId: number): number {
  return 1 + (cardId % CARRIERS);
}

export function sumOf(
  rates: ReadonlyMap<InterfaceName, number>,
  of: readonly InterfaceName[] = POLLED,
): number {
  return of.reduce((sum, name) => sum + (rates.get(name) ?? 0), 0);
}

export class TroubledFleet {
  /** The healthy pace, over a revolution of the rings; of good answers at most what comes due, since more of them were late. */
  before: Rates = { good: new Map(), calls: new Map() };
  readonly #pace = new Pace();
  #daemons: RunningBinary | null = null;
  #scheduledAt = 0;

  private constructor(
    private readonly stack: Stack,
    readonly gateway: TroubledGateway,
    private readonly setUp: SetUp,
  ) {}

  /** Polls that come due a second. */
  get #due(): number {
    return (POLLED.length * this.setUp.cards) / this.setUp.intervalSeconds;
  }

  /** Stops whatever was started, however `use` ends. */
  static async run<T>(
    options: FlowOptions,
    setUp: Partial<SetUp>,
    use: (fleet: TroubledFleet) => Promise<T>,
  ): Promise<T> {
    const whole = { ...USUAL, ...setUp };
    const gateway = new TroubledGateway(whole.latencyMs, LATE_MS);
    await gateway.listen();
    const fleet = new TroubledFleet(await Stack.start(options.redis), gateway, whole);
    try {
      await fleet.#start(options.instances);
      await fleet.#warmUp();
      await fleet.#measurePace();
      return await use(fleet);
    } finally {
      await fleet.#stop();
    }
  }

  /** Counts for so long. */
  async rates(ms: number): Promise<Rates> {
    const { gateway } = this;
    const [from, good, calls] = [performance.now(), { ...gateway.good }, { ...gateway.calls }];
    await sleep(ms);
    const seconds = (performance.now() - from) / 1_000;
    return {
      good: new Map(POLLED.map((name) => [name, (gateway.good[name] - good[name]) / seconds])),
      calls: new Map(POLLED.map((name) => [name, (gateway.calls[name] - calls[name]) / seconds])),
    };
  }

  /** Waits until half a revolution of the rings is over. */
  async halfRevolution(): Promise<void> {
    const intervalMs = this.setUp.intervalSeconds * 1_000;
    const intoMs = (performance.now() - this.#scheduledAt) % intervalMs;
    await sleep((1.5 * intervalMs - intoMs) % intervalMs);
  }

  /**
   * @returns after how many seconds these interfaces are back at this share of their pace; null: not within `patienceMs`.
   */
  async secondsUntilBack(
    interfaces: readonly InterfaceName[],
    share: number,
    patienceMs: number,
  ): Promise<number | null> {
    const from = performance.now();
    while (performance.now() - from < patienceMs) {
      const begin = performance.now();
      const { good } = await this.rates(BACK_WINDOW_MS);
      const end = performance.now();
      const expected = this.#pace.expected(interfaces, begin, end) / ((end - begin) / 1_000);
      if (sumOf(good, interfaces) >= share * expected) return (begin - from) / 1_000;
    }
    return null;
  }

  async #start(instances: number): Promise<void> {
    const { stack, gateway, setUp } = this;
    await stack.insertCards(setUp.cards);
    await stack.sql(`UPDATE cards SET carrier_id = 1 + card_id % ${CARRIERS}`);
    // What a run leaves undone is of no interest.
    const env = { CARDPOLL_DRAIN_TIMEOUT_MS: '500' };
    this.#daemons = await stack.startInstances(instances, gateway.url, env);
    const admin = `${this.#daemons.url}/api/admin`;
    for (const type of TASK_TYPES) {
      await putJson(`${admin}/polling-concurrency/${type}`, { max_concurrency: setUp.limit });
    }
    for (const id of [1, 2, 3, 4]) {
      await putJson(`${admin}/polling-configs/${id}`, { interval_seconds: setUp.intervalSeconds });
    }
    this.#scheduledAt = performance.now();
  }

  async #warmUp(): Promise<void> {
    const from = performance.now();
    await sleep(WARM_UP_MS);
    await waitFor(
      async () => {
        const pace = sumOf((await this.rates(WINDOW_MS)).good);
        return pace >= SCHEDULED * this.#due || (pace > 0 && performance.now() - from > PATIENCE_MS);
      },
      { what: 'a pace' },
    );
  }

  async #measurePace(): Promise<void> {
    const revolutionMs = this.setUp.intervalSeconds * 1_000;
    const sampling = setInterval(() => this.#pace.add(performance.now(), this.gateway.good), SAMPLE_MS);
    this.#pace.add(performance.now(), this.gateway.good);
    const { good, calls } = await this.rates(revolutionMs);
    clearInterval(sampling);
    this.#pace.add(performance.now(), this.gateway.good);
    const most = this.#due / POLLED.length;
    this.before = { good: new Map([...good].map(([name, rate]) => [name, Math.min(rate, most)])), calls };
    const pace = sumOf(good);
    if (pace < BUSY * this.#due) {
      const rates = `${pace.toFixed(0)} of ${this.#due.toFixed(0)}`;
      process.stderr.write(`  the machine is too busy: healthy, ${rates} polls a second are done\n`);
    }
  }

  async #stop(): Promise<void> {
    await this.#daemons?.stop();
    await this.gateway.close();
    await this.stack.stop();
  }
}
