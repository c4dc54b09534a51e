// One instance of the fleet: the real engine with all its services, its operations and its gateway client, on ports that reach the
// shared stores through this file. At every call of a port and at every rest the instance may be dead or frozen, and the way to a store
// may be slow, cut, or lose a call before or after its effect.

import { ALERTS, WEBHOOKS } from '../../src/config/settings/alert-settings.ts';
import { POLLING } from '../../src/config/settings/polling-settings.ts';
import { STOPS } from '../../src/config/settings/stop-settings.ts';
import { gatewayFactsOf } from '../../src/domain/gateway/gateway-config.ts';
import { WebhookTester } from '../../src/engine/alerts/webhook-attempt.ts';
import { AuditDigest } from '../../src/engine/audit-digest.ts';
import { Engine } from '../../src/engine/engine.ts';
import { callPaceOf } from '../../src/engine/limits/call-pace.ts';
import { GatewayClient } from '../../src/gateway/call/client.ts';
import { FlowControlledGateway } from '../../src/gateway/flow/flow-control.ts';
import { FleetHealth } from '../../src/health/fleet-health.ts';
import { Presence } from '../../src/health/presence.ts';
import { type Operations, openOperations } from '../../src/operations/operations.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { CardpollError } from '../../src/platform/errors.ts';
import type { Logger } from '../../src/platform/logger.ts';
import { ErrorReporter } from '../../src/platform/loop.ts';
import type { Meter } from '../../src/platform/meter.ts';
import { NO_PROXIES } from '../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../src/platform/ssrf-guard.ts';
import { defaultsOf, gatewayConfig } from '../support/gateway-config.ts';
import { MESSAGE_MEANS, TESTER_MEANS } from '../support/message-deps.ts';
import { UNMEASURED } from '../support/unmeasured.ts';
import { serve } from './virtual/undici.ts';
import type { World } from './world.ts';

/** Of ports: they answer at once and have no effect. */
const AT_ONCE = new Set(['onWork']);
const COMMAND_TIMEOUT_MS = 3_000;
const DOWN_ANSWERS_MS = 5;

/** The way of one instance to one store. */
export interface Way {
  /** The store refuses connections. */
  isCut: boolean;
  /** The store answers nothing, until the driver's deadline. */
  isSilent: boolean;
  /** Shares of calls that fail before, or after, their effect. */
  lostBefore: number;
  lostAfter: number;
  delayMs: number;
}

export const OPEN_WAY: Way = { isCut: false, isSilent: false, lostBefore: 0, lostAfter: 0, delayMs: 0 };

function isTroubled(way: Way): boolean {
  return way.isCut || way.isSilent || way.delayMs > 0 || way.lostBefore + way.lostAfter > 0;
}

type Work = (...args: unknown[]) => Promise<unknown>;

export class Instance {
  state: 'up' | 'frozen' | 'dead' = 'up';
  /** When it stood still, or a call of it to the live store failed or was slow, last. */
  troubledAt = Number.NEGATIVE_INFINITY;
  recordsTroubledAt = Number.NEGATIVE_INFINITY;
  readonly bornAt: number;
  /** Its clock is ahead by so much. */
  skewMs = 0;
  readonly ways = { live: { ...OPEN_WAY }, records: { ...OPEN_WAY } };
  /** Each ends a connection to the gateway. */
  readonly connections = new Set<(answered: boolean) => void>();
  readonly clock: Clock;
  readonly engine: Engine;
  readonly operations: Operations;
  readonly #digest: AuditDigest;
  readonly #client: GatewayClient;
  #thaw: Array<() => void> = [];
  #die: (reason: Error) => void = () => {};
  /** Rejects when it dies. */
  readonly death = new Promise<never>((_, reject) => {
    this.#die = reject;
  });
  /** It dies at this call of a port, counted from now; null: it does not. */
  dies: { calls: number; afterEffect: boolean } | null = null;
  /** What happens to it once, before it hears the answer to this method of a port. */
  onAnswer: { readonly method: string; readonly happens: () => void } | null = null;

  constructor(
    readonly id: string,
    private readonly world: World,
  ) {
    const { time } = world;
    this.bornAt = time.now;
    this.clock = {
      now: () => Math.round(time.wall + this.skewMs),
      monotonic: () => time.now,
      sleep: (ms, signal) => this.#sleep(ms, signal),
    };
    this.death.catch(() => {});
    const { clock } = this;
    const shared = world.shared.open();
    const live = this.#port(
      'live',
      () => shared() as unknown as Record<string, unknown>,
    ) as unknown as World['live'];
    const records = this.#port(
      'records',
      () => world.store.records as unknown as Record<string, unknown>,
    ) as unknown as World['store']['records'];
    const log = world.logOf(id);
    const random = world.random.stream(`instance ${id}`).next;
    const stops = { ...defaultsOf(STOPS), ...world.settings.stops };
    const url = `http://${id}.gateway.example`;
    serve(url, (request, handler) => world.gateway.receive(this, request, handler));
    const config = gatewayConfig({ url, ...world.settings.gateway });
    const facts = gatewayFactsOf(config);
    const { calendar } = world;
    const { timeZone } = world.nature;
    const guard = new SsrfGuard([], NO_PROXIES);
    const errors = new ErrorReporter(log, clock);
    const presence = new Presence(clock);
    const { cardsPerCall } = facts;
    const health = new FleetHealth({
      ...{ live, records, clock, cardsPerCall, initPauseMs: 0, stops, presence },
    });
    this.operations = openOperations({
      ...{ live, records, health, clock, timeZone, version: '0', stops, guard },
      ...facts,
      tester: new WebhookTester({ ...TESTER_MEANS, guard, secrets: [], timeZone, clock }),
      auditLog: { info: (entry) => world.tell(id, `${entry.action} ${String(Object(entry).object)}`) },
    });
    const { audit } = this.operations;
    this.#digest = new AuditDigest({ audit, clock, onError: errors.for('audit-digest') });
    this.#client = new GatewayClient(config, { log, clock, calendar, proxies: NO_PROXIES });
    const pace = callPaceOf(facts.rateLimits, {
      pace: live.pace,
      clock,
      log,
      onError: errors.for('call-pace'),
    });
    void pace?.start();
    const gateway = new FlowControlledGateway({
      ...{ ...facts, gateway: this.#client, pace, meter: SILENT_METER, clock, random },
      onChange: (name, state, reason) => log.warn({ interface: name, state, reason }, 'gateway breaker'),
    });
    this.engine = new Engine(
      {
        ...{
          instanceId: id,
          hostname: id,
          pid: 1,
          version: '0',
          roles: ['worker', 'scheduler'],
          timeZone,
        },
        gateway: { maxConcurrency: world.settings.ceiling },
        polling: { ...defaultsOf(POLLING), ...world.settings.polling },
        stops,
        alerts: defaultsOf(ALERTS),
        webhooks: { ...defaultsOf(WEBHOOKS), receivers: {} },
        usage: { maxMbitPerSecond: 150, jumpFactor: 20 },
        cleanup: { schedule: '0 3 * * *', pauseMs: 100 },
      },
      {
        ...{
          live,
          records,
          fleet: MESSAGE_MEANS.fleet,
          log,
          clock,
          random,
          gateway,
          pace,
          guard,
          ...facts,
          meter: SILENT_METER,
        },
        ...{
          probeAddress: () => null,
          reloadFailure: () => null,
          logTrouble: () => null,
          load: () => UNMEASURED,
          health,
          presence,
        },
        audit,
        digest: this.#digest,
      },
    );
  }

  /** A store does not answer it as always. */
  get isAway(): boolean {
    return Object.values(this.ways).some(isTroubled);
  }

  /** As a daemon does, which a service manager starts again until its start succeeds. */
  async start(): Promise<void> {
    await this.#digest.start();
    for (;;) {
      try {
        await this.engine.start();
        return;
      } catch (error) {
        this.world.tell(this.id, `cannot start: ${String(error)}`);
        await this.clock.sleep(1_000);
      }
    }
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    await this.#digest.stop();
    await this.#client.close();
  }

  kill(): void {
    this.state = 'dead';
    this.#die(new Error(`${this.id} is dead`));
    this.#thaw = [];
    for (const end of [...this.connections]) end(false);
  }

  freeze(): void {
    if (this.state !== 'up') return;
    this.state = 'frozen';
    this.troubledAt = this.world.time.now;
  }

  thaw(): void {
    if (this.state !== 'frozen') return;
    this.state = 'up';
    for (const goOn of this.#thaw.splice(0)) goOn();
  }

  /** Resolves when the instance runs; never, once it is dead. */
  async awake(): Promise<void> {
    while (this.state !== 'up') {
      await new Promise<void>((resolve) => {
        if (this.state === 'frozen') this.#thaw.push(resolve);
      });
    }
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (Number.isNaN(ms)) return reject(new RangeError('cannot sleep for NaN ms'));
      if (signal?.aborted === true) return resolve();
      const end = () => {
        cancel();
        signal?.removeEventListener('abort', end);
        this.world.time.active(`${this.id} rest`);
        if (this.state === 'up') resolve();
        else void this.awake().then(resolve);
      };
      const cancel = this.world.time.after(ms, end);
      signal?.addEventListener('abort', end);
    });
  }

  /** @param target asked anew for each call: a store that lost its data is another one. */
  #port(
    store: 'live' | 'records',
    target: () => Record<string, unknown>,
    path: string = store,
  ): Record<string, unknown> {
    const known = new Map<PropertyKey, unknown>();
    return new Proxy({} as Record<string, unknown>, {
      get: (_, key) => {
        if (known.has(key)) return known.get(key);
        const member = target()[key as string];
        const name = `${path}.${String(key)}`;
        const led = this.#member(store, target, key as string, name, member);
        known.set(key, led);
        return led;
      },
    });
  }

  #member(
    store: 'live' | 'records',
    target: () => Record<string, unknown>,
    key: string,
    name: string,
    member: unknown,
  ) {
    const call = (...args: unknown[]) =>
      (target()[key] as (...all: unknown[]) => unknown).apply(target(), args);
    if (typeof member === 'function' && AT_ONCE.has(key)) return call;
    if (key === 'bounded') return () => this.#port(store, target, store);
    if (typeof member === 'function')
      return (...args: unknown[]) => {
        const given = key === 'inTurn' ? [this.#untilDeath(args[0] as Work)] : args;
        return this.#call(store, name, () => this.#noted(name, args, call(...given)));
      };
    if (typeof member !== 'object' || member === null) return member;
    return this.#port(store, () => target()[key] as Record<string, unknown>, name);
  }

  /** The work of a transaction: when the instance dies, its connection ends, and the store rolls back. */
  #untilDeath(work: Work): Work {
    return (...args) => Promise.race([work(...args), this.death]);
  }

  #noted(name: string, args: readonly unknown[], result: unknown): unknown {
    const watchers = this.world.storeWatchers.get(name);
    if (watchers !== undefined)
      void (result as Promise<unknown>).then(
        (answer) => {
          for (const watcher of watchers) watcher({ instance: this.id, args, answer });
        },
        () => {},
      );
    return result;
  }

  async #call(store: 'live' | 'records', name: string, call: () => unknown): Promise<unknown> {
    const { world } = this;
    const { time } = world;
    const way = this.ways[store];
    time.active(`${this.id} ${name}`);
    world.trace(`${this.id} ${name}`);
    if (isTroubled(way)) this[store === 'live' ? 'troubledAt' : 'recordsTroubledAt'] = time.now;
    if (this.state !== 'up') await this.awake();
    if (this.dies !== null) this.dies.calls -= 1;
    const dies = this.dies !== null && this.dies.calls <= 0 ? this.dies : null;
    if (dies !== null && !dies.afterEffect) {
      this.dies = null;
      world.tell(this.id, `dies before ${name}`);
      world.died(this);
      await this.awake();
    }
    if (way.isCut) await this.#fails(store, DOWN_ANSWERS_MS);
    if (way.isSilent) await this.#fails(store, COMMAND_TIMEOUT_MS);
    if (way.delayMs > 0) await time.sleep(world.ways.below(way.delayMs));
    if (way.lostBefore > 0 && world.ways.chance(way.lostBefore)) await this.#fails(store, DOWN_ANSWERS_MS);
    const result = await this.#answered(call);
    if (this.onAnswer?.method === name) {
      const { happens } = this.onAnswer;
      this.onAnswer = null;
      happens();
    }
    if (dies?.afterEffect === true) {
      this.dies = null;
      world.tell(this.id, `dies after ${name}`);
      world.died(this);
    }
    if (this.state !== 'up') await this.awake();
    if (way.lostAfter > 0 && world.ways.chance(way.lostAfter)) await this.#fails(store, DOWN_ANSWERS_MS);
    return result;
  }

  /** An error, too, reaches an instance only while it runs. */
  async #answered(call: () => unknown): Promise<unknown> {
    try {
      return await call();
    } catch (error) {
      await this.awake();
      throw error;
    }
  }

  async #fails(store: 'live' | 'records', afterMs: number): Promise<never> {
    await this.world.time.sleep(afterMs);
    await this.awake();
    const code = store === 'live' ? 'redis_unreachable' : 'postgres_unreachable';
    throw new CardpollError('unavailable', code, `the ${store} store does not answer`);
  }
}

/** What the world counts, it counts at the gateway and in the stores. */
const SILENT_METER: Meter = {
  claimed: () => {},
  settled: () => {},
  poll: () => {},
  gatewayCall: () => {},
  webhookAttempt: () => {},
  implausibleReading: () => {},
};

export function worldLogger(write: (level: string, fields: object, message: string) => void): Logger {
  const log: Record<string, unknown> = { child: () => log };
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    log[level] = (fields: object, message: string) => write(level, fields, message);
  return log as unknown as Logger;
}
