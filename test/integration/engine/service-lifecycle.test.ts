// Every service that runs in a loop is started and stopped in every way that an evil day may bring. Which services there
// are is read from the sources: one that this file cannot make fails. The stores are the embedded live store and a real
// database, behind a gate; time is the test's.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadDaemonConfig } from '../../../src/config/load-config.ts';
import { OutageWatch } from '../../../src/engine/alerts/outage-watch.ts';
import { OutsideHeartbeat } from '../../../src/engine/alerts/outside-heartbeat.ts';
import { WebhookSender } from '../../../src/engine/alerts/webhook-sender.ts';
import { AuditDigest } from '../../../src/engine/audit-digest.ts';
import type { EngineDeps, EngineSettings } from '../../../src/engine/engine-settings.ts';
import { FleetClock } from '../../../src/engine/fleet-clock.ts';
import { FleetWatch } from '../../../src/engine/fleet-watch.ts';
import { Heartbeat } from '../../../src/engine/heartbeat.ts';
import { leaderServices } from '../../../src/engine/leader-services.ts';
import type { Leadership } from '../../../src/engine/leadership.ts';
import { callPaceOf } from '../../../src/engine/limits/call-pace.ts';
import { OrderWorker, type OrderWorkerDeps } from '../../../src/engine/orders/order-worker.ts';
import { StopRulesWatch } from '../../../src/engine/orders/stop-rules-watch.ts';
import { LeaseKeeper } from '../../../src/engine/results/lease-keeper.ts';
import { ConfigWatch } from '../../../src/engine/schedule/config-watch.ts';
import { MaintenanceWatch } from '../../../src/engine/schedule/maintenance-watch.ts';
import { StatsRecorder } from '../../../src/engine/stats/stats-recorder.ts';
import { Worker } from '../../../src/engine/work/worker.ts';
import { HealthWatch } from '../../../src/health/health-watch.ts';
import { Presence } from '../../../src/health/presence.ts';
import { withTimeout } from '../../../src/platform/clock.ts';
import type { ErrorReporter, LoopService } from '../../../src/platform/loop.ts';
import { NO_PROXIES } from '../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../src/platform/ssrf-guard.ts';
import type { InstanceInfo } from '../../../src/store/ports/live/coordination.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { Gate } from '../../support/gated-port.ts';
import { MESSAGE_MEANS } from '../../support/message-deps.ts';
import { PLAIN_GATEWAY } from '../../support/one-card-calls.ts';
import { readSourceTree } from '../../support/source-tree.ts';
import { UNLIMITED } from '../../support/stop-rules.ts';
import { openPacedLiveStore } from '../../support/virtual-pace.ts';
import { waitFor } from '../../support/wait-for.ts';

const tree = readSourceTree(fileURLToPath(new URL('../../../src', import.meta.url)));
const classesThat = (clause: string) =>
  tree.flatMap(({ source }) =>
    [...source.matchAll(new RegExp(`class (\\w+)(?:<.+>)? ${clause}\\b`, 'g'))].map(
      ([, name]) => name as string,
    ),
  );
const LOOPS = classesThat('extends LoopService');

/** Rests are shorter than a second, but for some outside of the leader's lease. */
const STEP_MS = 500;
let settings: EngineSettings;

let records: RecordStore;
let clock: FakeClock;
let gate: Gate;
let errors: unknown[];
let leadership: Leadership;
let configs: ConfigWatch;
let subject: LoopService;
/** Gives the subject something to do in its next pass, where it would not ask a store without. */
let stir: () => void;

beforeAll(async () => {
  records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  await records.migrations.up();
  const env = {
    CARDPOLL_ALERTS_INTERVAL_MS: '1000',
    CARDPOLL_CLEANUP_SCHEDULE: 'off',
    CARDPOLL_STOPS_RESUME_WITHIN: 'true',
  };
  const config = await loadDaemonConfig({ flags: { '--gateway-url': 'http://127.0.0.1:9' }, env });
  settings = { ...config, instanceId: 'w', hostname: 'h', pid: 1, version: '0.0.0' };
});
afterAll(() => records.close());

beforeEach(() => {
  clock = new FakeClock();
  gate = new Gate();
  errors = [];
  stir = () => {};
});

/** All there are, on stores of their own. @param name of the class to be tested */
async function make(name: string): Promise<LoopService> {
  const live = openPacedLiveStore({ clock });
  const log = pino({ enabled: false });
  const stores = {
    // The lead is renewed during the test, as it is in the engine; so are the configs, below.
    live: gate.around(live, name === 'Leadership' ? null : 'lead'),
    records: gate.around(records),
  };
  const means = { clock, onError: (error: unknown) => void errors.push(error) };
  const { meter, flow } = unwatched();
  configs = new ConfigWatch({
    records: name === 'ConfigWatch' ? stores.records : records,
    offers: () => true,
    ...means,
  });
  await configs.runOnce();
  const digest = new AuditDigest({ audit: gate.around({ record: async () => {} }), ...means });
  const reporter = { for: () => means.onError } as unknown as ErrorReporter;
  const deps = {
    ...stores,
    ...{ clock, log, digest, meter, ...PLAIN_GATEWAY },
  } as unknown as EngineDeps;
  const led = leaderServices(settings, deps, configs, reporter, async () => {});
  leadership = led[0] as Leadership;
  const stats = new StatsRecorder({ live: stores.live, instanceId: 'w', meter, ...means });
  const judge = async () => ({ reasons: [], tasks: [] }) as never;
  const worker = new Worker({
    task: { taskType: 'realname', poll: () => Promise.reject(new Error('nothing is due')) },
    instanceId: 'w',
    live: stores.live,
    meter: { claimed: () => {} },
    reader: { read: async () => new Map() } as never,
    writer: { room: 100 } as never,
    stats,
    flow,
    cardsPerCall: () => 1,
    matcher: () => configs.matcher,
    fleetClock: { timeOf: (claimedAtMs) => claimedAtMs },
    leaseMs: 15_000,
    claimBatch: 10,
    log,
    ...means,
  });
  const messages = {
    ...MESSAGE_MEANS,
    secrets: [],
    timeZone: 'UTC',
    guard: new SsrfGuard([], NO_PROXIES),
    meter,
    log,
    ...means,
  };
  const keeper = new LeaseKeeper({ live: stores.live, leaseMs: STEP_MS, ...means });
  const services = [
    ...(led as LoopService[]),
    configs,
    new FleetClock({ records: stores.records, ...means }),
    new MaintenanceWatch({ records: stores.records, fleetNow: () => 0, ...means }),
    new StopRulesWatch({ stops: settings.stops, records: stores.records, ...means }),
    new OrderWorker({
      ...{ calls: { carryOut: async () => {} }, live: stores.live, records: stores.records, gateway: flow },
      ...{ offers: () => true, matcher: () => configs.matcher, stopRules: () => UNLIMITED, isPaced: false },
      ...{ leaseMs: 15_000, random: () => 0, log, ...means },
    } as unknown as OrderWorkerDeps),
    digest,
    stats,
    worker,
    keeper,
    new Heartbeat({
      live: stores.live,
      presence: new Presence(clock),
      describe: () => ({ instanceId: 'w', roles: [], clockAheadMs: null }) as unknown as InstanceInfo,
      ...means,
    }),
    new FleetWatch({
      coordination: stores.live.coordination,
      fleet: { id: 'a', name: 'a' },
      onForeign: () => expect.unreachable(),
      ...means,
    }),
    new WebhookSender({
      ...messages,
      outbox: stores.records.alerts.webhooks,
      sends: () => true,
      random: () => 0.5,
    }),
    // In an outage it asks in every pass who tells it.
    new OutageWatch({
      ...messages,
      ...{ live: stores.live, alerts: stores.records.alerts, instanceId: 'w', leads: () => false },
      redis: { outage: null },
      postgres: { outage: { lastsMs: 60_000, reason: 'no answer' } },
    }),
    new OutsideHeartbeat({
      ...messages,
      ...{ url: 'http://127.0.0.1:9', intervalMs: STEP_MS, fence: () => 1 },
      health: { brokenPromise: async () => `at ${await stores.live.now()}` },
    }),
    new HealthWatch({ judge: { judge }, health: stores.live.health, ...means }),
    callPaceOf([{ kind: 'calls', interfaces: null, calls: 5, unit: 'second', burst: 5 }], {
      pace: stores.live.pace,
      log,
      ...means,
    }) as LoopService,
  ];
  const found = services.find((service) => service.constructor.name === name);
  if (found === undefined) throw new Error(`${name}: a new service? Let it be made here, too`);
  stir = () => {
    if (found === keeper) keeper.hold('realname', { cardId: 1, lane: 'schedule', member: '1', token: '1.5' });
    stats.countFailed('realname', 1, 'timeout', 7);
    digest.note({ action: 'limit.adapt', object: `call ${gate.calls}`, before: null, after: null } as never);
  };
  return found;
}

function unwatched() {
  const permit = () => ({ calls: 10, trickle: false });
  const flow = {
    ready: async () => {},
    permit,
    giveBack: () => {},
    refusesAll: () => false,
    makeRoom: () => {},
    breakers: () => [],
  };
  return { meter: { poll: () => {}, webhookAttempt: () => {} }, flow };
}

const rests = () =>
  waitFor(() => clock.sleepers === 1 && gate.waiting === 0, { everyMs: 1, what: 'one rest, and no more' });

/** Ends the present rest. */
async function wake(): Promise<void> {
  await rests();
  if (subject !== leadership) await leadership.runOnce();
  // Under the lead, as it takes them.
  if (subject !== configs) await configs.runOnce();
  stir();
  while (clock.sleepers > 0) clock.advance(STEP_MS);
}

/** Nothing of it runs any more, and nothing will. */
async function isQuiet(): Promise<void> {
  expect(clock.sleepers, 'rests after the stop').toBe(0);
  const { calls } = gate;
  const { passes } = subject;
  clock.advance(3_600_000);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(gate.calls, 'calls after the stop').toBe(calls);
  expect(subject.passes, 'passes after the stop').toBe(passes);
}

async function passes(): Promise<void> {
  const before = subject.passes;
  await wake();
  await rests();
  expect(subject.passes).toBeGreaterThan(before);
}

describe.each(LOOPS)('%s', (name) => {
  beforeEach(async () => {
    subject = await make(name);
  });

  it('runs once when it is started twice, and a stop ends it', async () => {
    await subject.start();
    await subject.start();
    await passes();
    await passes();
    await subject.stop();
    await isQuiet();
  });

  it('allows a stop before its start, two at once and one afterwards, and starts again', async () => {
    await subject.stop();
    await isQuiet();
    for (let life = 0; life < 2; life += 1) {
      await subject.start();
      await passes();
      await Promise.all([subject.stop(), subject.stop()]);
      await subject.stop();
      await isQuiet();
    }
  });

  it('stops in mid-pass when the pass ends, and a pass that hangs can be left behind in time', async () => {
    await subject.start();
    await rests();
    gate.close();
    await wake();
    await waitFor(() => gate.waiting > 0, { everyMs: 1, what: 'a pass to wait for the store' });
    const stopping = subject.stop();
    const left = withTimeout(3_000, stopping, clock);
    clock.advance(3_000);
    expect(await left, 'a stop that did not wait for its pass').toBe(false);
    gate.open();
    await stopping;
    await isQuiet();
  });

  it('reports a pass that fails, goes on when the store is back, and stops in between', async () => {
    await subject.start();
    await rests();
    gate.break();
    await wake();
    await rests();
    expect(errors).toMatchObject([{ message: 'the store is broken' }]);
    gate.mend();
    await passes();
    expect(errors).toHaveLength(1);
    gate.break();
    await wake();
    await rests();
    expect(errors).toHaveLength(2);
    // What it would sign off with may fail too: that is its caller's to know.
    await subject.stop().catch((error: Error) => expect(error.message).toBe('the store is broken'));
    await isQuiet();
  });
});

it('leaves out nothing that is a service', () => {
  expect(LOOPS.length).toBeGreaterThan(10);
  // The engine has engine.test.ts.
  expect(classesThat('implements Service').sort()).toEqual(['Engine', 'LoopService']);
});
