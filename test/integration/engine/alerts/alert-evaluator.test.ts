// The evaluator on real stores: what makes a rule fire and resolve, and that nothing else does.
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrderedCause } from '../../../../src/domain/alerts/alert-cause.ts';
import type { TaskCondition } from '../../../../src/domain/alerts/alert-rule.ts';
import { perTaskType } from '../../../../src/domain/task-type.ts';
import { AlertEvaluator } from '../../../../src/engine/alerts/alert-evaluator.ts';
import { type Clock, systemClock } from '../../../../src/platform/clock.ts';
import { messageOf } from '../../../../src/platform/errors.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { AlertHistoryItem } from '../../../../src/store/ports/records/alert-records.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { PostgresClient } from '../../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../../src/store/redis/live-store.ts';
import { sqlRecordStore } from '../../../../src/store/sql/sql-record-store.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import type { RedisServer } from '../../../support/redis-server.ts';
import { statsDelta } from '../../../support/stats-delta.ts';
import { waitFor } from '../../../support/wait-for.ts';

const ANY = { ruleId: null, state: null };
const RULE = ruleFields({ name: 'rule', taskType: 'realname' });

let server: RedisServer;
let redis: Redis;
let live: LiveStore;
let client: PostgresClient;
let records: RecordStore;
let condition: TaskCondition;
/** Stops that the gateway acknowledged without effect. */
let unconfirmed = 0;
const log: Array<Record<string, unknown>> = [];
const failures: string[] = [];

beforeAll(async () => {
  server = await freshRedis();
  redis = new Redis(server.url);
  redis.on('error', () => {});
  live = await openRedisLiveStore({ url: server.url });
  client = new PostgresClient({ url: await freshDatabase(), applicationName: 'cardpoll', maxConnections: 4 });
  records = sqlRecordStore('postgres', client);
  await records.migrations.up();
});
afterAll(async () => {
  redis.disconnect();
  await live.close();
  await records.close();
});
beforeEach(async () => {
  for (const table of ['alert_history', 'alert_rules']) await client.query(`DELETE FROM ${table}`);
  await redis.flushall();
  log.length = 0;
  failures.length = 0;
  condition = { reasons: [], breakerOpenSeconds: 0, pausedByOperator: false };
});

function evaluator({
  leads = (): boolean => true,
  clock = systemClock as Clock,
  unconfirmedStops = async (): Promise<number> => unconfirmed,
} = {}): AlertEvaluator {
  return new AlertEvaluator({
    clock,
    live,
    alerts: records.alerts,
    stops: { unconfirmed: unconfirmedStops, overRunning: async () => null },
    stopControl: records.stopControl,
    health: { conditions: async () => perTaskType(() => condition) },
    fence: () => (leads() ? 1 : null),
    intervalMs: 5_000,
    log: pino({ base: null, timestamp: false }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    onError: (error) => void failures.push(messageOf(error)),
  });
}

/** Passes of one leader for as long as the end of an alert must be seen. */
async function recover(): Promise<void> {
  const clock = new FakeClock();
  const judge = evaluator({ clock });
  await judge.runOnce();
  clock.advance(60_000);
  await judge.runOnce();
}

/** @param root what it follows from; itself, where it is absent. */
function reason(code: string, over: Partial<OrderedCause> = {}): OrderedCause {
  const severity = 'alert';
  const own = {
    code,
    kind: null,
    severity,
    text: `it is ${code}`,
    command: 'cardpoll doctor',
    since: null,
  } as const;
  return { ...own, root: { ...own, ...over }, ...over };
}

const setQueue = async (length: number) => {
  await redis.del('polling:queue:realname');
  const members = Array.from({ length }, (_, n) => [1, n + 1]).flat();
  if (length > 0) await redis.zadd('polling:queue:realname', ...members);
};

async function history(): Promise<readonly AlertHistoryItem[]> {
  return (await records.alerts.history(ANY, { offset: 0, limit: 100 })).items;
}

it('fires on the transition, resolves when it is over, and says so', async () => {
  const { id } = await records.alerts.createRule(RULE);
  await setQueue(10);
  expect(await evaluator().runOnce()).toBe(5_000);
  expect(await history()).toEqual([]);
  await setQueue(11);
  for (let n = 0; n < 3; n += 1) await evaluator().runOnce();
  expect(await history()).toMatchObject([{ ruleId: id, value: 11, resolvedAtMs: null }]);
  await setQueue(2);
  for (let n = 0; n < 3; n += 1) await evaluator().runOnce();
  expect(await history()).toMatchObject([{ resolvedAtMs: null }]);
  await recover();
  const [alert, ...more] = await history();
  expect(more).toEqual([]);
  expect(alert).toMatchObject({ resolution: 'recovered', resolvedValue: 2 });
  const fields = {
    alert_id: alert?.id,
    rule_id: id,
    rule_name: 'rule',
    rule_type: 'queue_backlog',
    task_type: 'realname',
    comparison: '>',
    threshold: 10,
  };
  expect(log).toEqual([
    { level: 40, ...fields, value: 11, msg: '告警触发' },
    { level: 30, ...fields, value: 2, resolution: 'recovered', msg: '告警恢复' },
  ]);
});

it('reminds of a forgotten pause once, also after a change of the leader, and shows it as a warning', async () => {
  await records.alerts.createRule({ ...RULE, ruleType: 'health', threshold: 1 });
  const warning = {
    severity: 'warning',
    text: 'paused by anna for 60 min, and for 7 h more: window',
  } as const;
  condition = { ...condition, reasons: [reason('paused', warning)], pausedByOperator: true };
  const clock = new FakeClock();
  const passes = async (judge: AlertEvaluator, seconds: number) => {
    for (let passed = 0; passed <= seconds; passed += 5) {
      await judge.runOnce();
      clock.advance(5_000);
    }
  };
  await passes(evaluator({ clock }), 120);
  expect(await history()).toEqual([]);
  condition = { ...condition, reasons: [reason('paused', { ...warning, reminds: true })] };
  await passes(evaluator({ clock }), 20);
  await passes(evaluator({ clock }), 120);
  expect(await history()).toMatchObject([{ cause: { code: 'paused', ...warning }, earlierCauses: [] }]);
});

it('fires while stops stay without effect, whatever the polls do', async () => {
  unconfirmed = 2;
  await records.alerts.createRule({
    ...RULE,
    ruleType: 'stop_unconfirmed',
    taskType: 'package',
    threshold: 1,
  });
  await evaluator().runOnce();
  expect(await history()).toMatchObject([{ ruleType: 'stop_unconfirmed', value: 2, resolvedAtMs: null }]);
  unconfirmed = 0;
  await recover();
  expect(await history()).toMatchObject([{ resolution: 'recovered', resolvedValue: 0 }]);
});

it.each([
  ['does not answer', () => new Promise<never>(() => {})],
  ['cannot be read', () => Promise.reject(new Error('permission denied'))],
])(
  'reports other trouble while the table of stops %s, and leaves the alerts of stops as they are',
  async (_, ask) => {
    await records.alerts.createRule({ ...RULE, ruleType: 'health', threshold: 1 });
    await records.alerts.createRule({
      ...RULE,
      ruleType: 'stop_unconfirmed',
      taskType: 'package',
      threshold: 1,
    });
    unconfirmed = 2;
    const clock = new FakeClock();
    await evaluator({ clock }).runOnce();
    condition = { ...condition, reasons: [reason('database_outage')] };
    const judge = evaluator({ clock, unconfirmedStops: ask });
    for (let seconds = 0; seconds <= 60; seconds += 20) {
      let isOver = false;
      const pass = judge.runOnce().then(() => {
        isOver = true;
      });
      await waitFor(() => isOver || clock.sleepers > 0);
      clock.advance(20_000);
      await pass;
    }
    expect(await history()).toMatchObject([
      { ruleType: 'health', cause: { code: 'database_outage' }, resolvedAtMs: null },
      { ruleType: 'stop_unconfirmed', resolvedAtMs: null },
    ]);
    unconfirmed = 0;
  },
);

it('fires while stops are held', async () => {
  await records.alerts.createRule({ ...RULE, ruleType: 'stops_held', taskType: 'package', threshold: 1 });
  await client.query(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by)
    SELECT id, '2026-11-01', '', 2, 1, 'held', 'budget_hour' FROM generate_series(1, 2) id`);
  await evaluator().runOnce();
  expect(await history()).toMatchObject([{ ruleType: 'stops_held', value: 2, resolvedAtMs: null }]);
  await records.stops.dismiss([1], { by: 'anna', reason: 'wrong readings' });
  await recover();
  expect(await history()).toMatchObject([{ resolution: 'recovered', resolvedValue: 1 }]);
});

it('fires when a breaker has been open for longer than the rule allows', async () => {
  await records.alerts.createRule({ ...RULE, ruleType: 'breaker_open', threshold: 15 });
  condition = { ...condition, breakerOpenSeconds: 15 };
  await evaluator().runOnce();
  expect(await history()).toEqual([]);
  condition = { ...condition, breakerOpenSeconds: 20 };
  await evaluator().runOnce();
  expect(await history()).toMatchObject([{ ruleType: 'breaker_open', value: 20, resolvedAtMs: null }]);
  condition = { ...condition, breakerOpenSeconds: 0 };
  await recover();
  expect(await history()).toMatchObject([{ resolution: 'recovered', resolvedValue: 0 }]);
});

describe('a rule that waits', () => {
  const clock = new FakeClock();
  let judge: AlertEvaluator;
  let leads: boolean;

  beforeEach(async () => {
    await records.alerts.createRule({ ...RULE, ruleType: 'health', threshold: 1 });
    leads = true;
    judge = evaluator({ leads: () => leads, clock });
    condition = { ...condition, reasons: [reason('breaker_open')] };
  });

  const pass = async (afterMs: number) => {
    clock.advance(afterMs);
    await judge.runOnce();
    return (await history()).length;
  };

  it('fires when its condition has held for the whole time, and resolves as slowly', async () => {
    expect(await pass(0)).toBe(0);
    expect(await pass(14_000)).toBe(0);
    expect(await pass(1_000)).toBe(1);
    condition = { ...condition, reasons: [reason('breaker_open', { severity: 'warning' })] };
    await pass(1);
    // A slow gateway seems well for a moment.
    await pass(59_000);
    condition = { ...condition, reasons: [reason('breaker_open')] };
    await pass(1_000);
    condition = { ...condition, reasons: [] };
    await pass(1_000);
    await pass(59_000);
    expect(await history()).toMatchObject([{ resolvedAtMs: null }]);
    await pass(1_000);
    expect(await history()).toMatchObject([{ ruleType: 'health', value: 2, resolution: 'recovered' }]);
  });

  it('waits from the beginning after a pass without its condition', async () => {
    await pass(0);
    condition = { ...condition, reasons: [] };
    await pass(14_000);
    condition = { ...condition, reasons: [reason('breaker_open')] };
    expect(await pass(1_000)).toBe(0);
    expect(await pass(14_000)).toBe(0);
    expect(await pass(1_000)).toBe(1);
  });

  it('waits in its cooldown as well', async () => {
    const [rule] = (await records.alerts.rules({ offset: 0, limit: 1 })).items;
    await records.alerts.updateRule(rule?.id ?? 0, (present) => ({ ...present, cooldownSeconds: 3_600 }));
    await pass(0);
    expect(await pass(30_000)).toBe(1);
    condition = { ...condition, reasons: [] };
    await pass(1);
    await pass(60_000);
    condition = { ...condition, reasons: [reason('breaker_open')] };
    expect(await pass(0)).toBe(1);
    expect(await pass(30_000)).toBe(1);
    await client.query(`UPDATE alert_rules SET last_fired_at = last_fired_at - interval '1 hour'`);
    expect(await pass(0)).toBe(2);
  });

  it('waits from the beginning on another leader', async () => {
    await pass(0);
    leads = false;
    await pass(14_000);
    leads = true;
    expect(await pass(1_000)).toBe(0);
    expect(await pass(30_000)).toBe(1);
  });

  it('waits from the beginning after a change of the rule', async () => {
    await pass(0);
    const [rule] = (await records.alerts.rules({ offset: 0, limit: 1 })).items;
    await records.alerts.updateRule(rule?.id ?? 0, (present) => ({ ...present, threshold: 0 }));
    expect(await pass(30_000)).toBe(0);
    expect(await pass(30_000)).toBe(1);
  });
});

describe('one cause', () => {
  it('is written into the history, in its words: what others follow from', async () => {
    await records.alerts.createRule({ ...RULE, ruleType: 'queue_backlog' });
    await setQueue(11);
    condition = {
      ...condition,
      // Of another task type, so that it is not among the reasons of this one.
      reasons: [
        reason('queue_backlog', {
          root: reason('gateway_slow', { severity: 'warning', since: new Date(5_000) }),
        }),
      ],
    };
    await evaluator().runOnce();
    const cause = { code: 'gateway_slow', kind: null, severity: 'alert', text: 'it is gateway_slow' };
    expect(await history()).toMatchObject([{ cause, causeSinceMs: 5_000 }]);
    await setQueue(0);
    await recover();
    expect(await history()).toMatchObject([{ resolution: 'recovered', cause }]);
  });

  it('one cause that has already lasted is not waited for once more', async () => {
    await records.alerts.createRule({ ...RULE, ruleType: 'health', threshold: 1 });
    condition = { ...condition, reasons: [reason('init_stuck')] };
    await evaluator().runOnce();
    expect(await history()).toMatchObject([{ ruleType: 'health', cause: { code: 'init_stuck' } }]);
  });

  it.each([
    ['is told by its own rule alone', { notifyChannels: ['webhook'] }, ['stop_surge']],
    ['is told by health too, where its own rule tells nobody', {}, ['health', 'stop_surge']],
    ['is told by health where its own rule is disabled', { isEnabled: false }, ['health']],
  ] as const)('stop_surge %s', async (_, over, told) => {
    const clock = new FakeClock();
    const webhook = { notifyChannels: ['webhook'] as const, webhookUrl: 'http://x/', webhookGrouped: true };
    const common = { ...RULE, taskType: 'package' as const };
    await records.alerts.createRule({ ...common, ...webhook, ruleType: 'health', threshold: 1 });
    await records.alerts.createRule({
      ...{ ...common, ...webhook, notifyChannels: [], ruleType: 'stop_surge', threshold: 0 },
      ...over,
    });
    condition = { ...condition, reasons: [reason('stop_surge')] };
    const judge = evaluator({ clock });
    await judge.runOnce();
    clock.advance(30_000);
    await judge.runOnce();
    expect((await history()).map(({ ruleType }) => ruleType).sort()).toEqual(told);
    // Customers are cut off: its message waits for no others.
    const rows = await client.query(
      'SELECT 1 FROM webhook_outbox WHERE next_attempt_at <= clock_timestamp()',
    );
    expect(rows).toHaveLength(told.length === 1 && told[0] === 'stop_surge' ? 1 : 0);
  });
});

describe('an open alert with another cause', () => {
  const clock = new FakeClock();
  let judge: AlertEvaluator;
  beforeEach(() => {
    judge = evaluator({ clock });
  });

  /** Passes with these reasons for some seconds. @returns events of the notifications so far */
  async function night(seconds: number, ...reasons: OrderedCause[]): Promise<readonly string[]> {
    condition = { ...condition, reasons };
    await judge.runOnce();
    clock.advance(1_000 * seconds);
    await judge.runOnce();
    // As a receiver takes them.
    await client.query("UPDATE webhook_outbox SET status = 'delivered', attempts = 1");
    return (await history()).flatMap(({ notifications }) => notifications.map(({ event }) => event));
  }

  const timeout = reason('success_rate', { kind: 'timeout', text: 'timeout' });
  const token = reason('breaker_open', { kind: 'token', text: 'token' });

  it('says so once, keeps the earlier ones, and ends with the last', async () => {
    const webhook = { notifyChannels: ['webhook'] as const, webhookUrl: 'http://x/' };
    await records.alerts.createRule({ ...RULE, ...webhook, ruleType: 'health', threshold: 1 });
    expect(await night(15, timeout)).toEqual(['alert.fired']);
    expect(await night(10, token), 'it may be for a moment').toEqual(['alert.fired']);
    const both = ['alert.fired', 'alert.changed'];
    expect(await night(15, token)).toEqual(both);
    expect(log.at(-1)).toMatchObject({ msg: 'an open alert has another cause', reason: 'breaker_open' });
    expect(await night(15, reason('success_rate', { kind: 'token' })), 'the same fault').toEqual(both);
    expect(await night(15, reason('queue_backlog')), 'what it left behind').toEqual(both);
    expect(await history()).toMatchObject([
      { cause: { kind: 'token' }, earlierCauses: [{ kind: 'timeout' }] },
    ]);
    expect(await night(15, timeout), 'known').toEqual(both);
    expect(await history()).toMatchObject([{ cause: { kind: 'timeout' } }]);
    expect(await night(15, timeout, reason('part_failing'))).toEqual([...both, 'alert.changed']);
    expect(await night(60)).toEqual([...both, 'alert.changed', 'alert.resolved']);
    expect(await history()).toMatchObject([{ cause: { code: 'part_failing' }, resolution: 'recovered' }]);
  });

  it('fires again in its cooldown for a fault of another kind only', async () => {
    await records.alerts.createRule({ ...RULE, ruleType: 'health', threshold: 1, cooldownSeconds: 300 });
    await night(15, timeout);
    await night(60);
    await night(15, timeout);
    expect(await history()).toHaveLength(1);
    await night(15, token);
    expect(await history()).toHaveLength(2);
  });
});

it('judges the numbers that statistics show', async () => {
  await records.alerts.createRule({ ...RULE, ruleType: 'success_rate', comparison: '<', threshold: 90 });
  await records.alerts.createRule({ ...RULE, ruleType: 'avg_duration', threshold: 99 });
  await live.stats.record('realname', 'w1', 1, statsDelta({ succeeded: 8, failed: 2, durationMs: 1_000 }));
  await evaluator().runOnce();
  expect((await history()).map(({ ruleType, value }) => [ruleType, value])).toEqual([
    ['avg_duration', 100],
    ['success_rate', 80],
  ]);
});

it('stays silent without a sample, and keeps what fires', async () => {
  await records.alerts.createRule({ ...RULE, ruleType: 'success_rate', comparison: '<', threshold: 100 });
  await records.alerts.createRule({ ...RULE, ruleType: 'avg_duration', comparison: '<', threshold: 10_000 });
  await evaluator().runOnce();
  expect(await history()).toEqual([]);
  await live.stats.record('realname', 'w1', 1, statsDelta({ succeeded: 0, failed: 10, durationMs: 50 }));
  await evaluator().runOnce();
  await redis.flushall();
  await evaluator().runOnce();
  expect((await history()).map(({ resolvedAtMs }) => resolvedAtMs)).toEqual([null, null]);
});

it('fires nothing twice when instances evaluate at the same time', async () => {
  for (let n = 0; n < 20; n += 1) await records.alerts.createRule(RULE);
  await setQueue(11);
  await Promise.all([evaluator().runOnce(), evaluator().runOnce(), evaluator().runOnce()]);
  expect(await history()).toHaveLength(20);
  expect(log).toHaveLength(20);
});

it('ends the alert of a rule that is switched off, changed or deleted', async () => {
  const ids: number[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await records.alerts.createRule(RULE)).id);
  await setQueue(11);
  await evaluator().runOnce();
  await records.alerts.updateRule(ids[0] ?? 0, () => ({ ...RULE, isEnabled: false }));
  await records.alerts.updateRule(ids[1] ?? 0, () => ({ ...RULE, taskType: 'package' }));
  await records.alerts.deleteRule(ids[2] ?? 0);
  await evaluator().runOnce();
  const resolutions = new Map((await history()).map(({ ruleId, resolution }) => [ruleId, resolution]));
  expect(ids.map((id) => resolutions.get(id))).toEqual(['rule_disabled', 'rule_changed', 'rule_deleted']);
});

it('leaves everything to the leader', async () => {
  await records.alerts.createRule(RULE);
  await setQueue(11);
  await evaluator({ leads: () => false }).runOnce();
  expect(await history()).toEqual([]);
});

it('neither fires nor resolves while the live store does not answer', async () => {
  await records.alerts.createRule(RULE);
  await setQueue(11);
  await evaluator().runOnce();
  server.pause();
  await expect(evaluator().runOnce()).rejects.toMatchObject({ kind: 'unavailable' });
  server.resume();
  expect(await history()).toMatchObject([{ resolvedAtMs: null }]);
});

it('evaluates a thousand rules in far less than a thousand times one, firing and quiet', async () => {
  await records.alerts.createRule(RULE);
  await setQueue(11);
  const oneFrom = performance.now();
  await evaluator().runOnce();
  const oneMs = performance.now() - oneFrom;
  expect(await history()).toHaveLength(1);
  await client.query(
    `INSERT INTO alert_rules (name, rule_type, task_type, comparison, threshold, is_enabled, notify_channels,
       webhook_url, cooldown_seconds)
     SELECT 'r' || n, 'queue_backlog', 'realname', '>', n % 20, true, '{webhook}', 'http://x/', 0
     FROM generate_series(1, 1000) n`,
  );
  await setQueue(10);
  for (const alerts of [500, 500]) {
    const startedAt = performance.now();
    await evaluator().runOnce();
    expect((performance.now() - startedAt) / oneMs).toBeLessThan(300);
    expect((await records.alerts.history(ANY, { offset: 0, limit: 1 })).total).toBe(1 + alerts);
  }
});
