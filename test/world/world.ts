// A world: one live store, one record store, one gateway, instances, and one clock for all of them. It begins from a seed, and the same
// seed is the same world: its trace (every call of a port and of the gateway, in order, with its time) has the same hash.
import pLimit from 'p-limit';
import { CARD_DEFAULTS } from '../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../src/domain/cards/month-calendar.ts';
import { defaultBurst, type RateLimit } from '../../src/domain/limits/rate-limit.ts';
import type { PollOutcome } from '../../src/domain/results/poll-outcome.ts';
import { hourOf } from '../../src/domain/results/usage-growth.ts';
import type { StopLimit } from '../../src/domain/stops/stop.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../../src/domain/task-type.ts';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { GatewayChanges } from '../support/gateway-config.ts';
import { drawnCard, type WorldCard } from './cards.ts';
import { type Sim, vendorIdOf, WorldGateway } from './gateway.ts';
import { Instance, OPEN_WAY, worldLogger } from './instance.ts';
import { type NightRedis, RedisWorldLive } from './live/redis.ts';
import { EmbeddedWorldLive, type LiveCopy, type StoreKind, type WorldLive } from './live/world-live.ts';
import { interfacesOf, type Nature, natureOf } from './nature.ts';
import { addOldStops } from './old-stops.ts';
import { Receiver, WEBHOOK_URL } from './receiver.ts';
import { openRecords, type WorldRecords } from './records.ts';
import { enter } from './virtual/globals.ts';
import { Random } from './virtual/random.ts';
import { VirtualTime } from './virtual/time.ts';

/** A call of a store that took effect, whether its caller has heard of it or not. */
export interface StoreCall {
  readonly instance: string;
  readonly args: readonly unknown[];
  readonly answer: unknown;
}

export interface WorldSize {
  readonly seed: number;
  readonly instances: number;
  readonly cards: number;
  /** From the first instance's start to the last one's end. */
  readonly minutes: number;
  /** The live store. */
  readonly store: StoreKind;
}

/** What a world begins with. */
export interface Ground {
  /** A migrated database. */
  readonly database: Blob;
  /** null: no night is on Redis. */
  readonly redis: NightRedis | null;
}

const ACTOR = { name: 'operator', role: 'operator', address: '127.0.0.1', requestId: 'world' } as const;

export { ACTOR };

const INTERVAL_SECONDS = 120;
export const LIMIT = 20;
/** Of a gateway that has one. */
const CEILING = 8;
/** So many alerts are in the history, one of each day, half a day apart from any retention. */
export const OLD_ALERTS = 60;
export const OLD_RULE = 999;
/** ICCIDs of exchanged SIMs begin behind those of the fleet. */
const NEW_SIMS = 1_000_000;
const STORY_LINES = 20_000;
const HOURS_A_DAY = 24;
const RESTART_AFTER_MS = 5_000;
/** A call begins within the lease of its claim, and takes no longer than a lease. */
export const CLAIM_AND_CALL_MS = 30_000;

export class World {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly gateway: WorldGateway;
  readonly receiver: Receiver;
  readonly instances: Instance[] = [];
  /** What is drawn for calls on their way to a store. */
  readonly ways: Random;
  readonly nature: Nature;
  readonly calendar: MonthCalendar;
  readonly intervalSeconds: number = INTERVAL_SECONDS;
  readonly settings: {
    readonly stops: { readonly maxPerHour: StopLimit; readonly resumeAtMonthStart: boolean };
    /** The same, in cards. */
    readonly stopsAnHour: number;
    readonly gateway: Omit<GatewayChanges, 'url'>;
    /** What the gateway allows; null: as much as comes. */
    readonly rate: { readonly perSecond: number; readonly burst: number } | null;
    /** The calls that it allows at once, of all task types together; null: as many as their limits. */
    readonly ceiling: number | null;
    readonly polling: { readonly cardCacheTtlSeconds: number; readonly initBatch: number };
  };
  /** Where instances open the live store. */
  readonly shared: WorldLive;
  readonly #live: () => LiveStore;
  store!: WorldRecords;
  /** Clocks of the stores are ahead by so much. */
  readonly skewMs = { live: 0, records: 0 };
  readonly story: string[] = [];
  readonly failures: string[] = [];
  readonly cards = new Map<number, WorldCard>();
  readonly cardOf = new Map<string, WorldCard>();
  #newSims = 0;
  /** One import at a time. */
  readonly imports = pLimit(1);
  /** Cards that have had another SIM. */
  readonly exchanged = new Set<number>();
  /** Cards that a manual trigger has named. */
  readonly triggered = new Set<number>();
  /** What an instance logs as an error. */
  onError: (who: string, line: string) => void = () => {};
  /** Told of calls of the stores that took effect, by port and method. */
  readonly storeWatchers = new Map<string, Array<(call: StoreCall) => void>>();
  /** What ends the faults that last. */
  readonly unfinished = new Set<() => void>();
  /** As the last answer to an operator says. */
  mode: { readonly mode: 'enforce' | 'observe' | 'unknown'; readonly since: number } = {
    mode: 'enforce',
    since: 0,
  };
  /** Task types whose limit an operator has lowered, with the limit and since when it is known; null: it may have another one. */
  readonly limits = new Map<TaskType, { readonly limit: number; readonly since: number } | null>();
  /** By task type: what the last answer to an operator says; null: it may be paused. */
  readonly pauses = new Map<
    TaskType,
    { readonly isPaused: boolean; readonly since: number; readonly until: number } | null
  >();
  /** When the live store lost its data, and a clock of a store was set; invariants leave a moment after them out. */
  lastLoss = Number.NEGATIVE_INFINITY;
  /** When the record store went back in time, and to when. */
  lastReturn = { at: Number.NEGATIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  lastStep = Number.NEGATIVE_INFINITY;
  lastRecordsStep = Number.NEGATIVE_INFINITY;
  /** When leases ended before their calls. */
  lastForgiven = Number.NEGATIVE_INFINITY;
  /** The shortest that operators asked for, and what previews of cleanups said, by run. */
  leastRetentionDays = OLD_ALERTS;
  readonly previews = new Map<string, { readonly rows: number; readonly at: number }>();
  /** What the live store had a day before the night; null: no fault of the night asks for it. */
  yesterday: LiveCopy | null = null;
  /** Counters of the gateway have restarted within the month. */
  haveRestarted = false;
  /** When all faults have ended. */
  calmSince: number | null = null;
  portCalls = 0;
  #hash = 0x811c9dc5;
  #hash2 = 0x01000193;
  #born = 0;
  readonly #recordStores: WorldRecords[] = [];
  readonly #entropy: Random;

  private constructor(
    readonly size: WorldSize,
    redis: NightRedis | null,
    earlierMs: number,
  ) {
    this.random = new Random(size.seed, 'world');
    this.ways = this.random.stream('ways');
    this.#entropy = this.random.stream('entropy');
    this.nature = natureOf(size, this.random);
    const { timeZone, epochMs } = this.nature;
    this.calendar = new MonthCalendar(timeZone);
    this.time = new VirtualTime(epochMs - earlierMs);
    const { time } = this;
    this.gateway = new WorldGateway(
      time,
      this.random.stream('gateway'),
      (at) => this.calendar.monthOf(at),
      this.nature.countersLateMs,
    );
    this.receiver = new Receiver(time, this.random.stream('receiver'));
    const clock: Clock = {
      now: () => Math.round(this.time.wall + this.skewMs.live),
      monotonic: () => this.time.now,
      sleep: (ms: number) => this.time.sleep(ms),
    };
    this.shared =
      redis === null
        ? new EmbeddedWorldLive(clock)
        : new RedisWorldLive(redis, clock, () => this.time.active('Redis'));
    this.#live = this.shared.open();
    const perSecond = 5 + Math.ceil((3 * TASK_TYPES.length * size.cards) / INTERVAL_SECONDS);
    const rate = this.random.chance(0.3) ? { perSecond, burst: defaultBurst(perSecond) } : null;
    const rateLimits: RateLimit[] =
      rate === null
        ? []
        : [{ kind: 'calls', interfaces: null, calls: perSecond, unit: 'second', burst: rate.burst }];
    const { budgetPercent: percent, resumesAtMonthStart: resumeAtMonthStart, initBatch } = this.nature;
    const cards = this.random.oneOf([5, 40, 100]);
    const maxPerHour: StopLimit = percent === null ? { unit: 'cards', cards } : { unit: 'percent', percent };
    this.settings = {
      stops: { maxPerHour, resumeAtMonthStart },
      stopsAnHour: percent === null ? cards : Math.ceil((percent * size.cards) / 100),
      gateway: { timeoutMs: 5_000, rateLimits, interfaces: interfacesOf(this.nature) },
      rate,
      ceiling: this.random.stream('most at once').chance(0.25) ? CEILING : null,
      polling: { cardCacheTtlSeconds: this.random.oneOf([10, 300]), initBatch },
    };
    this.watchStore('records.results.write', ({ args: [outcomes] }) =>
      this.#written(outcomes as readonly PollOutcome[]),
    );
    this.gateway.watchers.push({
      called: ({ instance, name, iccid }) => {
        this.trace(`${instance} ${name} ${iccid}`);
        if (name === 'stop' || name === 'start') this.tell(instance, `calls ${name} of ${iccid}`);
      },
      tookEffect: ({ name, iccid }) => {
        const card = this.cardOf.get(iccid);
        if (name === 'stop' && card !== undefined) Object.assign(card, { ordered: false, released: false });
      },
    });
  }

  /** @param earlierMs it begins by so much before the night of its seed. */
  static async begin(size: WorldSize, { database, redis }: Ground, earlierMs = 0): Promise<World> {
    const world = new World(size, redis, earlierMs);
    const { time } = world;
    // Before its clock is the process' own: unpacking a database takes turns of the event loop that are not the world's.
    world.store = await openRecords(database, time, 'records 1');
    world.#recordStores.push(world.store);
    world.#enter();
    await time.runWhile(world.#settle(), 60_000);
    return world;
  }

  #enter(): void {
    enter({
      time: this.time,
      random: this.#entropy,
      storeNow: () => Math.round(this.time.wall + this.skewMs.records),
      request: this.receiver.request,
    });
  }

  /** The fleet and its configuration, as an operator makes them. */
  async #settle(): Promise<void> {
    const { records } = this.store;
    const draw = this.random.stream('cards');
    const rows = Array.from({ length: this.size.cards }, (_, i) => {
      const card = drawnCard(i + 1, this.gateway, draw);
      const { cardId, sim, carrierId, allowanceMb } = card;
      this.cards.set(cardId, card);
      this.cardOf.set(sim.iccid, card);
      const vendorId = this.nature.hasVendorIds ? vendorIdOf(sim) : null;
      return { ...CARD_DEFAULTS, cardId, iccid: sim.iccid, carrierId, allowanceMb, vendorId };
    });
    await records.results.ensurePartitions(this.calendar.monthOf(this.time.wall));
    await records.cards.importChunk(rows);
    if (this.nature.resumesAtMonthStart) await addOldStops(this, this.random.stream('old stops'));
    const { usualMbPerHour } = this.nature;
    if (usualMbPerHour !== null)
      await this.live.stats.noteUsagePeak(hourOf(this.time.wall) - HOURS_A_DAY, usualMbPerHour);
    for (const { id } of await records.configs.list())
      await records.configs.update(id, { intervalSeconds: INTERVAL_SECONDS });
    for (const type of TASK_TYPES) await records.configs.setConcurrency(type, LIMIT);
    await this.store.sql(
      `insert into alert_rules (name, rule_type, task_type, threshold, comparison, is_enabled, notify_channels, webhook_url, cooldown_seconds)
       values ('backlog', 'queue_backlog', 'carddata', 60, '>', true, '{webhook}', '${WEBHOOK_URL}', 10),
              ('success', 'success_rate', 'package', 90, '<', true, '{webhook}', '${WEBHOOK_URL}', 10)`,
    );
    await this.store.sql(
      `insert into alert_history (rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, resolved_at)
       select ${OLD_RULE}, 'old', 'queue_backlog', 'carddata', '>', 1, 2, at, at + interval '1 minute'
       from (select clock_timestamp() - (day - 0.5) * interval '1 day' as at from generate_series(1, ${OLD_ALERTS}) day) days`,
    );
  }

  /** Starts one more instance, which is new to the others. */
  async addInstance(): Promise<Instance> {
    this.#born += 1;
    const instance = new Instance(`i${this.#born}`, this);
    this.instances.push(instance);
    this.tell(instance.id, 'starts');
    await instance.start();
    return instance;
  }

  get alive(): Instance[] {
    return this.instances.filter(({ state }) => state !== 'dead');
  }

  get up(): Instance[] {
    return this.instances.filter(({ state }) => state === 'up');
  }

  /** The service manager starts another one in its place. */
  died(instance: Instance): void {
    if (instance.state === 'dead') return;
    instance.kill();
    this.instances.splice(this.instances.indexOf(instance), 1);
    this.time.after(RESTART_AFTER_MS, () => void this.addInstance());
  }

  /** The live store, as an instance of its own would have it. */
  get live(): LiveStore {
    return this.#live();
  }

  /** The live store is empty, as after FLUSHALL, which a server survives, or a failover without persistence. */
  loseLiveData(keepsLife: boolean): void {
    this.lastLoss = this.time.now;
    this.shared.lose(keepsLife);
    for (const type of TASK_TYPES) this.forgive(type);
  }

  /** @returns what has another server answer with the live data of now. */
  async keepLiveData(): Promise<() => void> {
    const copy = await this.shared.copy();
    return () => this.goBackTo(copy);
  }

  /** Another server answers with these live data from now on. */
  goBackTo(copy: LiveCopy): void {
    this.lastLoss = this.time.now;
    this.shared.goBackTo(copy);
    for (const type of TASK_TYPES) this.forgive(type);
  }

  /** Whether calls may be under way whose leases ended early: also those that were claimed before and are made after that. */
  get hasLostClaims(): boolean {
    return this.time.now - this.lastForgiven < CLAIM_AND_CALL_MS;
  }

  /** Leases of a task type end before their calls do: calls are not counted by any, and cards are due again. */
  forgive(type: TaskType): void {
    this.lastForgiven = this.time.now;
    for (const call of this.gateway.inFlight) if (call.name === TASKS[type].interface) call.forgiven = true;
  }

  /** For what takes real time: nothing of the world goes on meanwhile. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    await this.time.runTo(this.time.now);
    enter(null);
    try {
      return await work();
    } finally {
      this.#enter();
    }
  }

  /** @returns what has the record store be as it is now once more. */
  async keepRecords(): Promise<() => void> {
    const to = this.time.now;
    const kept = await this.outside(async () =>
      openRecords(await this.store.copy(), this.time, `records ${this.#recordStores.length + 1}`),
    );
    this.#recordStores.push(kept);
    return () => {
      this.store = kept;
      this.lastReturn = { at: this.time.now, to };
      for (const type of this.limits.keys()) this.limits.set(type, null);
      for (const type of this.pauses.keys()) this.pauses.set(type, null);
      for (const sim of this.gateway.sims.values()) sim.isRecorded = false;
      for (const one of this.formerFacts) if (one.until >= to) one.until = Number.POSITIVE_INFINITY;
    };
  }

  /** What cards were, as the record store has or had it. */
  get formerFacts(): Array<{ until: number }> {
    return [...this.cards.values()].flatMap(({ earlier, formerSims }) => [...earlier, ...formerSims]);
  }

  /** @param method as `records.stops.claim` */
  watchStore(method: string, watcher: (call: StoreCall) => void): void {
    this.storeWatchers.set(method, [...(this.storeWatchers.get(method) ?? []), watcher]);
  }

  #written(outcomes: readonly PollOutcome[]): void {
    for (const { cardId, iccid, usage } of outcomes) {
      const sim = this.gateway.sims.get(iccid ?? '') ?? this.cards.get(cardId)?.sim;
      if (usage !== undefined && sim !== undefined) sim.isRecorded = true;
    }
  }

  /** A SIM that no card has had. */
  newSim(): Sim {
    this.#newSims += 1;
    return this.gateway.addSim(demoIccid(NEW_SIMS + this.#newSims));
  }

  /** @returns what to call when the record store has the SIM. */
  setSim(card: WorldCard, sim: Sim): () => void {
    const former = { sim: card.sim, until: Number.POSITIVE_INFINITY };
    card.formerSims.push(former);
    card.sim = sim;
    card.sims.push(sim);
    this.exchanged.add(card.cardId);
    this.cardOf.set(sim.iccid, card);
    return () => {
      former.until = this.time.now;
    };
  }

  /** All ways are open, everyone runs, clocks are right. */
  endFaults(): void {
    for (const end of [...this.unfinished]) end();
    this.gateway.clear();
    this.receiver.fails = 0;
    this.calmSince = this.time.now;
    this.tell('world', 'all faults have ended');
    for (const instance of this.instances) {
      Object.assign(instance.ways.live, OPEN_WAY);
      Object.assign(instance.ways.records, OPEN_WAY);
      instance.skewMs = 0;
      instance.dies = null;
      instance.onAnswer = null;
      instance.thaw();
    }
  }

  trace(what: string): void {
    this.portCalls += 1;
    let h = this.#hash;
    const text = `${this.time.now} ${what}`;
    for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    this.#hash = h;
    this.#hash2 = Math.imul(this.#hash2 ^ h, 0x85ebca6b) ^ (h >>> 13);
  }

  /** Of everything so far. */
  get hash(): string {
    return [this.#hash, this.#hash2].map((h) => (h >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** A line of the story. */
  tell(who: string, what: string): void {
    const at = new Date(this.time.wall).toISOString().slice(11, 23);
    if (this.story.length < STORY_LINES) this.story.push(`${at}  ${who.padEnd(9)} ${what}`);
  }

  fail(invariant: string, what: string): void {
    this.tell('BROKEN', `${invariant}: ${what}`);
    this.failures.push(`${invariant}: ${what}`);
  }

  logOf(id: string) {
    return worldLogger((level, fields, message) => {
      this.time.active(`${id} log`);
      if (level === 'error') this.onError(id, `${message} ${JSON.stringify(fields)}`);
      if (level === 'error' || message.includes('leads'))
        this.tell(id, `${message} ${JSON.stringify(fields)}`);
    });
  }

  async close(): Promise<void> {
    for (const instance of this.instances) instance.kill();
    enter(null);
    this.shared.close();
    for (const store of this.#recordStores) await store.close();
  }
}
