// The engine of one instance: builds its services from ports and settings, and starts and stops them in order. Role
// `worker` polls cards; role `scheduler` may lead (advance rings, initialise, reap). The engine imports no driver and
// reads no configuration file.

import { MonthCalendar } from '../domain/cards/usage-month.ts';
import { WORKER_STARTED } from '../domain/log-phrases.ts';
import { sum } from '../domain/numbers.ts';
import { isChange } from '../domain/results/poll-outcome.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import { withTimeout } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { ErrorReporter, Pulse } from '../platform/loop.ts';
import type { Service } from '../platform/service.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import { OutageWatch } from './alerts/outage-watch.ts';
import { OutsideHeartbeat } from './alerts/outside-heartbeat.ts';
import { WebhookSender } from './alerts/webhook-sender.ts';
import { DatabaseUse } from './database-use.ts';
import type { EngineDeps, EngineSettings } from './engine-settings.ts';
import { FleetClock } from './fleet-clock.ts';
import { Heartbeat } from './heartbeat.ts';
import { leaderServices } from './leader-services.ts';
import { Leadership } from './leadership.ts';
import { seedCeiling, seedLimits } from './limits/seed-limits.ts';
import { makeOverPackageUrgent } from './results/over-package.ts';
import { ResultWriter } from './results/result-writer.ts';
import { ConfigWatch } from './schedule/config-watch.ts';
import { StatsRecorder } from './stats/stats-recorder.ts';
import { StopRulesWatch } from './tasks/package.ts';
import { makeTask } from './tasks/reading-tasks.ts';
import { cardPaceOf } from './work/card-pace.ts';
import { CardReader } from './work/card-reader.ts';
import { Worker } from './work/worker.ts';

/** An instance is not ready after this long without an answer to a claim or to the query for the configs. */
const STALLED_MS = 10_000;
/** Time after the drain to release leases and send the last statistics. */
const FAREWELL_MS = 3_000;

export class Engine implements Service {
  readonly name = 'engine';
  readonly #startedAtMs: number;
  readonly #configs: ConfigWatch;
  readonly #fleetClock: FleetClock;
  readonly #stopRules: StopRulesWatch;
  readonly #reader: CardReader;
  readonly #writer: ResultWriter;
  readonly #database: DatabaseUse;
  readonly #stats: StatsRecorder;
  readonly #heartbeat: Heartbeat;
  readonly #workers: readonly Worker[];
  readonly #leaderServices: readonly Service[];
  readonly #outages: OutageWatch;
  readonly #webhooks: WebhookSender;
  readonly #errors: ErrorReporter;
  readonly #pulse: Pulse;
  #phase: 'starting' | 'running' | 'draining' = 'starting';

  constructor(
    private readonly settings: EngineSettings,
    private readonly deps: EngineDeps,
  ) {
    const { live, records, clock } = deps;
    this.#startedAtMs = clock.now();
    this.#errors = new ErrorReporter(deps.log, clock);
    /** What services have in common; each takes what its type asks for. */
    const part = (name: string) => ({ ...settings, ...deps, onError: this.#errors.for(name) });
    this.#configs = new ConfigWatch(part('config-watch'));
    this.#fleetClock = new FleetClock(part('fleet-clock'));
    this.#stopRules = new StopRulesWatch(part('stop-rules-watch'));
    this.#reader = new CardReader(
      live.cards,
      records.cards,
      settings.polling.cardCacheTtlSeconds * 1000,
      clock,
    );
    this.#stats = new StatsRecorder(part('stats-recorder'));
    this.#writer = this.#makeWriter();
    this.#database = new DatabaseUse(this.#configs, this.#reader, this.#writer, clock);
    this.#heartbeat = new Heartbeat({ ...part('heartbeat'), describe: () => this.describe() });
    this.#workers = settings.roles.includes('worker') ? this.#makeWorkers() : [];
    this.#leaderServices = settings.roles.includes('scheduler')
      ? leaderServices(settings, deps, this.#configs, this.#errors)
      : [];
    const messages = {
      ...settings.webhooks,
      runbookUrl: settings.alerts.runbookUrl,
      timeZone: settings.timeZone,
    };
    this.#outages = new OutageWatch({
      ...part('outage-watch'),
      ...messages,
      alerts: records.alerts,
      redis: deps.presence,
      postgres: this.#configs,
      leads: () => this.leads,
    });
    this.#webhooks = new WebhookSender({
      ...part('webhook-sender'),
      ...messages,
      outbox: records.alerts.webhooks,
      sends: () => this.leads || this.#outages.sendsForAll,
    });
    this.#pulse = new Pulse([this.#heartbeat, ...this.#workers], clock);
  }

  /** @returns why this instance is not ready, a sentence each; empty when it is ready. */
  problems(): string[] {
    if (this.#phase !== 'running') return [this.#phase];
    const unread = this.#reader.failingMs;
    const stalled = this.#workers.filter((worker) => worker.stalledMs > STALLED_MS);
    const { silence } = this.deps.presence;
    return [
      ...stalled.map((worker) => `${worker.name}: no answer to a claim for ${seconds(worker.stalledMs)} s`),
      ...this.#database.problems(STALLED_MS),
      // Claims of an empty queue pass at a Redis that refuses writes, because it is full or cannot save.
      ...(silence !== null && stalled.length === 0 ? [silence] : []),
      ...(unread > STALLED_MS ? [`cards could not be read for ${seconds(unread)} s`] : []),
    ];
  }

  /** @returns loops that only a restart of the process can help; empty before the start and during the drain. */
  stuck(): string[] {
    return this.#phase === 'running' ? this.#pulse.stuck() : [];
  }

  /** @returns what keeps a ready instance from polling: pauses and breakers, a sentence each. */
  restraints(): string[] {
    const paused = this.#workers.filter(({ pausedMs }) => pausedMs > 0);
    const held = this.deps.gateway.breakers();
    return [
      ...paused.map(
        ({ taskType, pausedMs }) => `${taskType}: paused for ${Math.ceil(pausedMs / 1000)} s more`,
      ),
      ...held.map(({ interface: name, state, reason }) => `breaker of ${name} ${state}: ${reason}`),
    ];
  }

  /** True while this instance leads and so advances the fleet's rings. */
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
    return {
      instanceId,
      hostname,
      pid,
      version,
      roles,
      probeAddress: this.deps.probeAddress(),
      startedAtMs: this.#startedAtMs,
      heartbeatAtMs: this.deps.clock.now(),
      inFlight: sum(this.#workers.map((worker) => worker.inFlight)),
      cacheHits: hits,
      cacheMisses: misses,
      breakers: this.deps.gateway.breakers(),
      reloadFailure: this.deps.reloadFailure(),
      logTrouble: this.deps.logTrouble(),
      timeZone,
      stopMode: stops.mode,
      clockAheadMs: this.#heartbeat.clockAheadMs,
      databaseOutage: this.#database.outage,
      outsideHeartbeat: this.#leaderServices.find((one) => one instanceof OutsideHeartbeat)?.report ?? null,
    };
  }

  async start(): Promise<void> {
    if (this.#phase === 'running') return;
    const { live, records, log } = this.deps;
    await seedLimits(live.work, records.configs);
    await seedCeiling(live.work, this.settings.gateway.maxConcurrency);
    await this.#configs.start();
    await this.#fleetClock.runOnce();
    await this.#fleetClock.start();
    await this.#stopRules.start();
    await this.#heartbeat.start();
    for (const service of this.#leaderServices) await service.start();
    await this.#outages.start();
    await this.#webhooks.start();
    await this.#stats.start();
    for (const worker of this.#workers) await worker.start();
    this.#phase = 'running';
    const { instanceId, roles, version } = this.settings;
    const kinds = [live.kind, records.kind];
    log.info({ worker_id: instanceId, roles, version, stores: kinds }, WORKER_STARTED);
  }

  /**
   * Drains: makes no new claims, waits for calls in flight, makes results durable, and gives leases back. Bounded in
   * time even if a store does not answer; the leases of unsettled items then end by themselves.
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

  async #drain(): Promise<void> {
    await this.#stopTogether(this.#workers);
    await this.#writer.stop();
  }

  /**
   * Ends the lead after all services that need it, and the heartbeat after the statistics: its end deletes their state.
   */
  async #leave(): Promise<void> {
    const [lead, ...led] = this.#leaderServices;
    await Promise.all([
      this.#stopTogether([...led, this.#outages, this.#webhooks]).then(() =>
        this.#stopTogether(lead === undefined ? [] : [lead]),
      ),
      this.#stopTogether([this.#stats]).then(() => this.#stopTogether([this.#heartbeat])),
      this.#stopTogether([this.#configs, this.#fleetClock, this.#stopRules]),
    ]);
  }

  /** An unavailable store must not keep the instance from stopping: its leases end by themselves. */
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
    const { polling } = this.settings;
    const dueDeps = { ...this.deps, ...polling, matcher: () => this.#configs.matcher };
    return new ResultWriter({
      ...this.deps,
      ...polling,
      onWritten: async (outcomes, outdated) => {
        await this.#reader.forget([...outcomes.filter(isChange).map((o) => o.cardId), ...outdated]);
        const over = outcomes.filter((o) => o.overPackage).map((o) => o.cardId);
        await makeOverPackageUrgent(dueDeps, over);
      },
      onError: (stage, error, retryInMs) => this.#errors.for(`result-writer ${stage}`)(error, retryInMs),
    });
  }

  #makeWorkers(): Worker[] {
    const { polling, usage, timeZone, instanceId } = this.settings;
    const readings = { calendar: new MonthCalendar(timeZone), maxMbitPerSecond: usage.maxMbitPerSecond };
    const means = { ...this.deps, ...polling, ...readings, instanceId, reader: this.#reader };
    const stopRules = () => this.#stopRules.rules;
    const again = (cardIds: readonly number[]) =>
      this.deps.live.work.makeUrgent('package', cardIds, 'urgent', polling.queueCap);
    return TASK_TYPES.map(
      (taskType) =>
        new Worker({
          ...means,
          task: makeTask(taskType, { ...means, stopRules, again }),
          writer: this.#writer,
          stats: this.#stats,
          flow: this.deps.gateway,
          cardPace: cardPaceOf(taskType, this.deps.rateLimits, means),
          matcher: () => this.#configs.matcher,
          fleetClock: this.#fleetClock,
          onError: this.#errors.for(`worker ${taskType}`),
        }),
    );
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
