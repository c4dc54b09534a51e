// The engine of one instance: builds its services from ports and settings, and starts and stops them in order. Role `worker`
// polls cards; role `scheduler` may lead (advance rings, initialise, reap). The engine imports no driver and reads no
// configuration file.

import { MonthCalendar } from '../domain/cards/month-calendar.ts';
import { NOT_IN_FORCE } from '../domain/limits/in-force.ts';
import { WORKER_STARTED } from '../domain/log-phrases.ts';
import { sum } from '../domain/numbers.ts';
import { isChange } from '../domain/results/poll-outcome.ts';
import { TASK_TYPES, type TaskType } from '../domain/task-type.ts';
import { span, spanWords } from '../domain/words.ts';
import { withTimeout } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { ErrorReporter, failingPart, type LoopDeps, LoopService, Pulse } from '../platform/loop.ts';
import type { Service } from '../platform/service.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { NoticeDeps } from './alerts/outage-notices.ts';
import { OutageWatch } from './alerts/outage-watch.ts';
import { OutsideHeartbeat } from './alerts/outside-heartbeat.ts';
import { WebhookSender } from './alerts/webhook-sender.ts';
import { DatabaseUse } from './database-use.ts';
import type { EngineDeps, EngineSettings } from './engine-settings.ts';
import { FleetClock } from './fleet-clock.ts';
import { Heartbeat } from './heartbeat.ts';
import { leaderServices } from './leader-services.ts';
import { Leadership } from './leadership.ts';
import { LimitsInForce } from './limits/limits-in-force.ts';
import { OrderCalls } from './orders/order-calls.ts';
import { OrderWorker } from './orders/order-worker.ts';
import { StopRulesWatch } from './orders/stop-rules-watch.ts';
import { orderWantedStops } from './orders/wanted-stops.ts';
import { ResultWriter } from './results/result-writer.ts';
import { ConfigWatch } from './schedule/config-watch.ts';
import { MaintenanceWatch } from './schedule/maintenance-watch.ts';
import { OwnSideWatch } from './stats/own-side-watch.ts';
import { StatsRecorder } from './stats/stats-recorder.ts';
import { makeTask } from './tasks/reading-tasks.ts';
import { cardPaceOf } from './work/card-pace.ts';
import { CardReader } from './work/card-reader.ts';
import { Reaper } from './work/reaper.ts';
import type { Task } from './work/task.ts';
import { Worker } from './work/worker.ts';

/** Without an answer to a claim or to the query for the configs for this long, an instance is not ready. */
const STALLED_MS = 10_000;
/** The interfaces that orders call. */
const CALLED_BY_ORDERS = ['card_status', 'stop', 'start'] as const;
/** Time after the drain to release leases and send the last statistics. */
const FAREWELL_MS = 3_000;

export class Engine implements Service {
  readonly name = 'engine';
  readonly #startedAtMs: number;
  readonly #configs: ConfigWatch;
  readonly #fleetClock: FleetClock;
  readonly #maintenance: MaintenanceWatch;
  readonly #stopRules: StopRulesWatch;
  readonly #reader: CardReader;
  readonly #writer: ResultWriter;
  readonly #database: DatabaseUse;
  readonly #stats: StatsRecorder;
  readonly #heartbeat: Heartbeat;
  readonly #workers: readonly Worker[];
  /** null: this instance makes no calls. */
  readonly #orders: OrderWorker | null;
  readonly #calendar: MonthCalendar;
  readonly #leaderServices: readonly Service[];
  readonly #outages: OutageWatch;
  readonly #webhooks: WebhookSender;
  readonly #errors: ErrorReporter;
  readonly #pulse: Pulse;
  readonly #ownSide: OwnSideWatch;
  #phase: 'starting' | 'running' | 'draining' = 'starting';

  constructor(
    private readonly settings: EngineSettings,
    private readonly deps: EngineDeps,
  ) {
    const { live, records, clock, log, meter, guard, fleet, presence } = deps;
    const { instanceId, timeZone, roles, stops, webhooks } = settings;
    const { secrets, receivers } = webhooks;
    this.#startedAtMs = clock.now();
    this.#errors = new ErrorReporter(log, clock);
    const loop = (part: string): LoopDeps => ({ clock, onError: this.#errors.for(part) });
    this.#configs = new ConfigWatch({ ...loop('config-watch'), records, offers: deps.offers });
    this.#fleetClock = new FleetClock({ ...loop('fleet-clock'), records });
    this.#maintenance = new MaintenanceWatch({
      ...loop('maintenance-watch'),
      records,
      fleetNow: () => this.#fleetClock.now(),
    });
    this.#stopRules = new StopRulesWatch({ ...loop('stop-rules-watch'), stops, records });
    const cachedMs = settings.polling.cardCacheTtlSeconds * 1000;
    this.#reader = new CardReader(live.cards, records.cards, cachedMs, clock);
    this.#stats = new StatsRecorder({ ...loop('stats-recorder'), live, instanceId, meter });
    this.#writer = this.#makeWriter();
    this.#database = new DatabaseUse(this.#configs, this.#reader, this.#writer, clock);
    const describe = () => this.describe();
    this.#heartbeat = new Heartbeat({ ...loop('heartbeat'), live, presence, describe });
    this.#ownSide = new OwnSideWatch({ ...deps, heartbeat: this.#heartbeat, fleetClock: this.#fleetClock });
    this.#calendar = new MonthCalendar(timeZone);
    const polls = roles.includes('worker');
    this.#workers = polls ? TASK_TYPES.map((taskType) => this.#makeWorker(taskType)) : [];
    this.#orders = polls ? this.#makeOrderWorker() : null;
    this.#leaderServices = roles.includes('scheduler')
      ? leaderServices(settings, deps, this.#configs, this.#errors, (cardIds) => this.#judgeChanged(cardIds))
      : [];
    const { runbookUrl } = settings.alerts;
    const messages: NoticeDeps = {
      ...{ secrets, receivers, timeZone, fleet, runbookUrl, guard, meter, clock, log },
    };
    this.#outages = new OutageWatch({
      ...loop('outage-watch'),
      ...messages,
      live,
      alerts: records.alerts,
      instanceId,
      redis: presence,
      postgres: this.#configs,
      leads: () => this.leads,
    });
    this.#webhooks = new WebhookSender({
      ...loop('webhook-sender'),
      ...messages,
      outbox: records.alerts.webhooks,
      sends: () => this.leads || this.#outages.sendsForAll,
      random: deps.random,
    });
    this.#pulse = new Pulse([this.#heartbeat, ...this.#loops], clock);
  }

  /** @returns why this instance is not ready, one sentence each; empty when it is ready. */
  problems(): string[] {
    if (this.#phase !== 'running') return [this.#phase];
    const unread = this.#reader.failingMs;
    const stalled = this.#workers.filter((worker) => worker.stalledMs > STALLED_MS);
    const { silence } = this.deps.presence;
    return [
      ...stalled.map(
        (worker) => `${worker.name}: no answer to a claim for ${spanWords(seconds(worker.stalledMs))}`,
      ),
      ...this.#database.problems(STALLED_MS),
      // Claims of an empty queue succeed on a Redis that refuses writes, because it is full or cannot save. So its silence counts
      // too.
      ...(silence !== null && stalled.length === 0 ? [silence] : []),
      ...(unread > STALLED_MS ? [`cards could not be read for ${spanWords(seconds(unread))}`] : []),
    ];
  }

  /** @returns loops that only a restart of the process can fix; empty before the start and during the drain. */
  stuck(): string[] {
    return this.#phase === 'running' ? this.#pulse.stuck() : [];
  }

  /** @returns why a ready instance does not poll: limits that are not in force, pauses and breakers, one sentence each. */
  restraints(): string[] {
    const paused = this.#workers.filter(({ gate }) => gate.pausedMs > 0);
    const held = this.deps.gateway.breakers();
    const unset = this.#workers.filter(({ gate }) => !gate.isInForce);
    return [
      ...unset.map(({ taskType }) => `${taskType}: ${NOT_IN_FORCE}`),
      ...paused.map(
        ({ taskType, gate }) => `${taskType}: paused for ${span(Math.ceil(gate.pausedMs / 1000))} more`,
      ),
      ...held.map(({ interface: name, state, reason }) => `breaker of ${name} ${state}: ${reason}`),
    ];
  }

  /** True while this instance leads, and so advances the fleet's rings. */
  get leads(): boolean {
    return this.#leaderServices.some((service) => service instanceof Leadership && service.fence() !== null);
  }

  /** This instance's look-ups in the card cache since its start. */
  get cardLookups(): { readonly hits: number; readonly misses: number } {
    return this.#reader.counts;
  }

  describe(): InstanceInfo {
    const { instanceId, hostname, pid, version, roles, timeZone, stops } = this.settings;
    const { hits, misses } = this.#reader.counts;
    const { fault, certificateEndsMs } = this.deps.gateway.access();
    return {
      instanceId,
      hostname,
      pid,
      version,
      roles,
      probeAddress: this.deps.probeAddress(),
      startedAtMs: this.#startedAtMs,
      heartbeatAtMs: this.deps.clock.now(),
      inFlight: sum(this.#loops.map((loop) => loop.inFlight)),
      cacheHits: hits,
      cacheMisses: misses,
      breakers: this.deps.gateway.breakers(),
      gatewayFault: fault,
      certificateEndsMs,
      reloadFailure: this.deps.reloadFailure(),
      logTrouble: this.deps.logTrouble(),
      logDir: this.deps.logDir ?? null,
      failing: this.#failing(),
      holds: Object.fromEntries(
        this.#workers.flatMap(({ taskType, gate: { hold } }) => (hold === null ? [] : [[taskType, hold]])),
      ),
      ownSide: this.#ownSide.read(),
      gone: this.#leaderServices.find((one) => one instanceof Reaper)?.gone ?? [],
      timeZone,
      stopMode: stops.mode,
      clockAheadMs: this.#heartbeat.clockAheadMs,
      databaseOutage: this.#database.outage,
      outsideHeartbeat: this.#leaderServices.find((one) => one instanceof OutsideHeartbeat)?.report ?? null,
      putBack: this.#leaderServices.find((one) => one instanceof LimitsInForce)?.putBack ?? [],
    };
  }

  #failing(): NonNullable<InstanceInfo['failing']> | null {
    const { clock } = this.deps;
    const others = [
      this.#configs,
      this.#fleetClock,
      this.#maintenance,
      this.#stopRules,
      this.#stats,
      this.#outages,
      this.#webhooks,
    ];
    const led = this.#leaderServices.filter((one) => one instanceof LoopService);
    const failing = failingPart([...others, ...led, ...this.#loops], clock);
    return failing && { part: failing.part, reason: failing.reason, sinceMs: clock.now() - failing.forMs };
  }

  async start(): Promise<void> {
    if (this.#phase === 'running') return;
    const { live, records, log } = this.deps;
    await this.#configs.start();
    await this.#fleetClock.runOnce();
    await this.#fleetClock.start();
    await this.#maintenance.start();
    await this.#stopRules.start();
    await this.#heartbeat.start();
    for (const service of this.#leaderServices) await service.start();
    await this.#outages.start();
    await this.#webhooks.start();
    await this.#stats.start();
    for (const loop of this.#loops) await loop.start();
    this.#phase = 'running';
    const { instanceId, roles, version } = this.settings;
    const kinds = [live.kind, records.kind];
    log.info({ worker_id: instanceId, roles, version, stores: kinds }, WORKER_STARTED);
  }

  /**
   * Drains: makes no new claims, waits for calls in flight, makes results durable, and returns leases. Takes a bounded time even
   * if a store does not answer; the leases of unsettled items then expire.
   */
  async stop(): Promise<void> {
    this.#phase = 'draining';
    if (!(await withTimeout(this.settings.polling.drainTimeoutMs, this.#drain(), this.deps.clock))) {
      const unsettled = this.#writer.reserved;
      this.deps.log.error({ unsettled }, 'drain took too long: leases will end by themselves');
      this.#writer.abandon();
    }
    if (!(await withTimeout(FAREWELL_MS, this.#leave(), this.deps.clock))) {
      this.deps.log.warn('a store does not answer: stopped without releasing leases');
    }
  }

  /** The loops that call the gateway. */
  get #loops(): ReadonlyArray<Worker | OrderWorker> {
    return this.#orders === null ? this.#workers : [...this.#workers, this.#orders];
  }

  /** Orders stops for the cards that are over their package, unless a rule exempts them. */
  async #orderStops(cardIds: readonly number[]): Promise<void> {
    const { records, offers, log } = this.deps;
    const ordered = await orderWantedStops(
      {
        ...{ records, offers, log, calendar: this.#calendar },
        matcher: () => this.#configs.matcher,
        stopRules: () => this.#stopRules.rules,
        fleetNow: () => this.#fleetClock.now(),
      },
      cardIds,
    );
    if (ordered > 0) this.#orders?.notice();
  }

  /** Judges changed cards again: their allowance may have been lowered or raised. */
  async #judgeChanged(cardIds: readonly number[]): Promise<void> {
    await this.#orderStops(cardIds);
    const month = this.#calendar.monthOf(this.#fleetClock.now());
    await this.deps.records.stoppedWithin.judge(cardIds, month);
  }

  async #drain(): Promise<void> {
    await this.#stopTogether(this.#loops);
    await this.#writer.stop();
  }

  /**
   * Ends the lead after all services that need it, and the heartbeat after the statistics: the end of the heartbeat deletes their
   * state.
   */
  async #leave(): Promise<void> {
    const [lead, ...led] = this.#leaderServices;
    await Promise.all([
      this.#stopTogether([...led, this.#outages, this.#webhooks]).then(() =>
        this.#stopTogether(lead === undefined ? [] : [lead]),
      ),
      this.#stopTogether([this.#stats]).then(() => this.#stopTogether([this.#heartbeat])),
      this.#stopTogether([this.#configs, this.#fleetClock, this.#maintenance, this.#stopRules]),
    ]);
  }

  /** An unavailable store must not keep the instance from stopping: its leases expire. */
  async #stopTogether(services: readonly Service[]): Promise<void> {
    const stopped = services.map((service) =>
      service.stop().catch((error: unknown) => {
        const fields = { service: service.name, reason: messageOf(error) };
        this.deps.log.warn(fields, 'service failed to stop cleanly');
      }),
    );
    await Promise.all(stopped);
  }

  #makeWriter(): ResultWriter {
    const { live, records, meter, clock, random, log } = this.deps;
    const { writeBuffer, retryBaseMs, leaseMs } = this.settings.polling;
    return new ResultWriter({
      ...{ live, records, meter, clock, random, log, writeBuffer, retryBaseMs, leaseMs },
      onWritten: async (outcomes, outdated) => {
        await this.#reader.forget([...outcomes.filter(isChange).map((o) => o.cardId), ...outdated]);
        await this.#orderStops(outcomes.filter((o) => o.overPackage).map((o) => o.cardId));
      },
      onError: (stage, error, retryInMs) => this.#errors.for(`result-writer ${stage}`)(error, retryInMs),
    });
  }

  #makeWorker(taskType: TaskType): Worker {
    const { live, records, gateway, clock, log } = this.deps;
    const { leaseMs, claimBatch } = this.settings.polling;
    return new Worker({
      clock,
      onError: this.#errors.for(`worker ${taskType}`),
      task: this.#makeTask(taskType),
      instanceId: this.settings.instanceId,
      live,
      meter: {
        claimed: (type, claim) => {
          this.deps.meter.claimed(type, claim);
          this.#stats.noteClaim(claim);
        },
      },
      reader: this.#reader,
      writer: this.#writer,
      stats: this.#stats,
      flow: gateway,
      cardsPerCall: this.deps.cardsPerCall,
      pace: this.deps.pace ?? null,
      cardPace: cardPaceOf(taskType, this.deps.rateLimits, { live, records, clock, log }),
      matcher: () => this.#maintenance.over(this.#configs.matcher),
      fleetClock: this.#fleetClock,
      leaseMs,
      claimBatch,
      log,
    });
  }

  #makeTask(taskType: TaskType): Task {
    const { records, gateway, audit, meter, log } = this.deps;
    return makeTask(taskType, {
      ...{ records, gateway, audit, meter, log, calendar: this.#calendar },
      maxMbitPerSecond: this.settings.usage.maxMbitPerSecond,
    });
  }

  #makeOrderWorker(): OrderWorker {
    const { live, records, gateway, offers, audit, pace, clock, random, log } = this.deps;
    const { leaseMs } = this.settings.polling;
    return new OrderWorker({
      ...{ clock, onError: this.#errors.for('order-worker') },
      ...{ live, records, gateway, offers, leaseMs, random, log },
      matcher: () => this.#maintenance.over(this.#configs.matcher),
      stopRules: () => this.#stopRules.rules,
      isPaced: CALLED_BY_ORDERS.some((name) => pace?.counts(name)),
      calls: new OrderCalls({
        ...{ gateway, records, reader: this.#reader, audit, calendar: this.#calendar, leaseMs, clock, log },
        stopRules: () => this.#stopRules.rules,
        fleetNow: () => this.#fleetClock.now(),
      }),
    });
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
