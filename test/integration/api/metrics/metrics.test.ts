// GET /metrics over real HTTP and real stores, and the shipped rules and dashboard that are built on it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Instruments } from '../../../../src/api/metrics/instruments.ts';
import { durationBucketOf } from '../../../../src/domain/numbers.ts';
import type { StopSettings } from '../../../../src/domain/stops/stop.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { FlowControlledGateway } from '../../../../src/gateway/flow/flow-control.ts';
import { applyToRules, ruleFields } from '../../../support/alert-rules.ts';
import { type ApiUnderTest, startApi } from '../../../support/api-under-test.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { setLimit } from '../../../support/limits.ts';
import { breachesOf } from '../../../support/metric-conventions.ts';
import { ONE_CARD_A_CALL } from '../../../support/one-card-calls.ts';
import type { RedisServer } from '../../../support/redis-server.ts';
import { statsDelta } from '../../../support/stats-delta.ts';
import { OF_FLEET } from '../../../support/stop-rules.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TOKEN = { role: 'viewer' as const, token: 'viewer-token-viewer-token' };
const SUMMARY = 'cardpoll_fleet_poll_duration_seconds';
const WITH_TOKEN = { headers: { authorization: `Bearer ${TOKEN.token}` } };

let redis: RedisServer;
let databaseUrl: string;
let api: ApiUnderTest;

beforeAll(async () => {
  redis = await freshRedis();
  databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: redis.url, databaseUrl });
});
afterAll(() => api.close());

interface Samples {
  readonly text: string;
  readonly values: ReadonlyMap<string, number>;
  readonly types: ReadonlyMap<string, string>;
}

async function scrape(from: ApiUnderTest): Promise<Samples> {
  const reply = await from.call('GET', '/metrics');
  expect(reply.status).toBe(200);
  expect(reply.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = String(reply.body);
  const lines = text.split('\n');
  const values = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const types = lines.flatMap((line) => [...line.matchAll(/^# TYPE (\S+) (\S+)$/g)]);
  return {
    text,
    values: new Map(
      values.map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' ') + 1)),
      ]),
    ),
    types: new Map(types.map(([, name = '', type = '']) => [name, type])),
  };
}

describe('before anything was polled', () => {
  it('has every counter, at zero, and no gauge without a sample', async () => {
    const { values, types } = await scrape(api);
    for (const type of TASK_TYPES) {
      for (const result of ['succeeded', 'failed']) {
        expect(values.get(`cardpoll_polls_total{task_type="${type}",result="${result}"}`)).toBe(0);
      }
      for (const lane of ['schedule', 'retry', 'manual']) {
        expect(values.get(`cardpoll_claims_total{task_type="${type}",lane="${lane}"}`)).toBe(0);
      }
      expect(values.get(`cardpoll_settlements_total{task_type="${type}",verdict="returned"}`)).toBe(0);
      expect(values.get(`cardpoll_fenced_total{task_type="${type}"}`)).toBe(0);
      expect(values.get(`cardpoll_failing_cards{task_type="${type}"}`)).toBe(0);
      expect(values.get(`cardpoll_queue_length{task_type="${type}"}`)).toBe(0);
      expect(values.has(`cardpoll_poll_success_ratio{task_type="${type}"}`)).toBe(false);
      expect(values.get(`${SUMMARY}_count{task_type="${type}"}`)).toBe(0);
      expect(values.has(`${SUMMARY}{quantile="0.5",task_type="${type}"}`)).toBe(false);
    }
    expect(types.get('cardpoll_poll_success_ratio')).toBe('gauge');
    expect(types.get('cardpoll_polls_total')).toBe('counter');
    expect(values.get('cardpoll_init_status{status="pending"}')).toBe(1);
    expect(values.get('cardpoll_leader')).toBe(1);
    expect(values.get('cardpoll_log_lines_dropped_total')).toBe(3);
    expect(values.get('cardpoll_build_info{version="1.2.3"}')).toBe(1);
  });
});

describe('names', () => {
  it('follow the conventions with a prefix, and no label has a value without end', async () => {
    const { text, types, values } = await scrape(api);
    expect(breachesOf(text)).toEqual([]);
    for (const name of types.keys()) expect(name).toMatch(/^cardpoll_/);
    const labels = [...values.keys()].flatMap((key) =>
      [...key.matchAll(/[{,](\w+)="/g)].map((match) => match[1]),
    );
    const ours = new Set(
      labels.filter(
        (label) => !/^(le|quantile|type|space|kind|version|major|minor|patch)$/.test(label ?? ''),
      ),
    );
    expect([...ours].sort()).toEqual([
      ...['interface', 'lane', 'method', 'mode', 'outcome', 'reason', 'result', 'route', 'rule_type'],
      ...['source', 'state', 'status', 'target', 'task_type', 'verdict', 'window'],
    ]);
  });
});

describe('after polls', () => {
  it('has the numbers of polling-stats, in base units', async () => {
    const { live } = api;
    await live.stats.record(
      'carddata',
      'w1',
      1,
      statsDelta({
        succeeded: 9,
        failed: 1,
        durationMs: 5_000,
        durations: { [durationBucketOf(100)]: 9, [durationBucketOf(4_100)]: 1 },
        reasons: { timeout: 1 },
      }),
    );
    await setLimit(live.work, 'carddata', 4);
    await live.manual.push('carddata', ['1', '2', '3']);
    await live.work.claim('carddata', { instanceId: 'w1', claimNumber: 1, max: 1, leaseMs: 60_000 });
    const now = Date.now();
    const worker = {
      instanceId: 'w1',
      hostname: 'h',
      pid: 42,
      version: '1.2.3',
      roles: ['worker'],
      probeAddress: null,
      inFlight: 1,
    };
    const counts = {
      startedAtMs: now,
      heartbeatAtMs: now,
      cacheHits: 30,
      cacheMisses: 10,
      breakers: [],
      databaseOutage: null,
      reloadFailure: null,
      logTrouble: null,
      outsideHeartbeat: null,
      timeZone: null,
      stopMode: null,
      clockAheadMs: null,
    };
    await live.coordination.heartbeat({ ...worker, ...counts }, 60_000);
    const { values } = await scrape(api);
    expect(Object.fromEntries(values)).toMatchObject({
      'cardpoll_polls_total{task_type="carddata",result="succeeded"}': 9,
      'cardpoll_polls_total{task_type="carddata",result="failed"}': 1,
      'cardpoll_poll_success_ratio{task_type="carddata"}': 0.9,
      'cardpoll_poll_duration_mean_seconds{task_type="carddata"}': 0.5,
      [`${SUMMARY}_sum{task_type="carddata"}`]: 5,
      [`${SUMMARY}_count{task_type="carddata"}`]: 10,
      'cardpoll_recent_failures{task_type="carddata",reason="timeout"}': 1,
      'cardpoll_in_flight{task_type="carddata"}': 1,
      'cardpoll_concurrency_limit{task_type="carddata"}': 4,
      'cardpoll_concurrency_usage_ratio{task_type="carddata"}': 0.25,
      'cardpoll_manual_length{task_type="carddata"}': 2,
      cardpoll_workers: 1,
      [`${SUMMARY}{quantile="0.5",task_type="carddata"}`]: expect.closeTo(0.1, 1),
      [`${SUMMARY}{quantile="0.95",task_type="carddata"}`]: expect.closeTo(4.6, 1),
      'cardpoll_card_cache_lookups_total{result="hit"}': 30,
      'cardpoll_card_cache_lookups_total{result="miss"}': 10,
    });
  });
});

describe('stops', () => {
  /** By an instance that has not read them before. */
  async function scrapeAnew(stops: Partial<StopSettings>): Promise<Samples> {
    const other = await startApi({ redisUrl: redis.url, databaseUrl, stops });
    try {
      // The first page does not wait for a database that takes longer than 50 ms.
      return await waitFor(async () => {
        const samples = await scrape(other);
        return samples.values.has('cardpoll_stops_held') ? samples : null;
      });
    } finally {
      await other.close();
    }
  }

  it('metrics show the mode, the budget, and how many stops wait', async () => {
    await api.records.stopControl.setMode('observe', 'anna', 'a new gateway');
    await api.records.stopControl.beginJump({
      factor: 30,
      baselineMbPerHour: 1,
      recentMbPerHour: 30,
      ...OF_FLEET,
    });
    const { values } = await scrapeAnew({});
    expect(Object.fromEntries(values)).toMatchObject({
      'cardpoll_stops_mode{mode="enforce"}': 0,
      'cardpoll_stops_mode{mode="observe"}': 1,
      'cardpoll_stops_done{window="hour"}': 0,
      'cardpoll_stops_done{window="day"}': 0,
      'cardpoll_stops_budget{window="hour"}': 1,
      'cardpoll_stops_budget{window="day"}': 1,
      'cardpoll_stops_resumed{window="day"}': 0,
      cardpoll_stops_held: 0,
      cardpoll_stops_held_for_operator: 0,
      cardpoll_stops_observed: 0,
      cardpoll_stops_unconfirmed: 0,
      cardpoll_usage_jump: 1,
    });
  });

  it('have no budget without a limit', async () => {
    const { values } = await scrapeAnew({
      maxPerHour: { unit: 'none' },
      maxPerDay: { unit: 'cards', cards: 7 },
    });
    expect(values.has('cardpoll_stops_budget{window="hour"}')).toBe(false);
    expect(values.get('cardpoll_stops_budget{window="day"}')).toBe(7);
  });
});

describe('what this instance counts and times', () => {
  it('is there before anything happened, at zero', async () => {
    const { values, types } = await scrape(api);
    expect(Object.fromEntries(values)).toMatchObject({
      'cardpoll_poll_duration_seconds_count{task_type="package",result="failed"}': 0,
      'cardpoll_gateway_call_duration_seconds_count{interface="card_status",result="succeeded"}': 0,
      'cardpoll_poll_lateness_seconds_count{task_type="package"}': 0,
      'cardpoll_webhook_attempts_total{outcome="failed"}': 0,
      'cardpoll_alerts_firing{rule_type="stop_unconfirmed",task_type="package"}': 0,
      'cardpoll_cleanup_deleted_rows{target="alert_history"}': 0,
      cardpoll_webhooks_pending: 0,
      cardpoll_cleanup_running: 0,
    });
    expect(types.get('cardpoll_http_request_duration_seconds')).toBe('histogram');
    expect([...values.keys()].filter((key) => key.includes('stop_unconfirmed",task_type="realname'))).toEqual(
      [],
    );
  });

  it('requests are counted by route and status, whatever path they name', async () => {
    for (const id of ['1', '2', '3']) await api.call('GET', `/api/admin/cards/${id}`);
    await api.call('GET', '/no/such/path');
    await api.call('GET', `/${'x'.repeat(50)}`);
    const { values } = await scrape(api);
    const labels = 'method="GET",route="/api/admin/cards/:card"';
    expect(values.get(`cardpoll_http_requests_total{${labels},status="404"}`)).toBe(3);
    expect(values.get(`cardpoll_http_request_duration_seconds_count{${labels}}`)).toBe(3);
    expect(values.get('cardpoll_http_requests_total{method="other",route="none",status="404"}')).toBe(2);
    expect([...values.keys()].some((key) => key.includes('no/such') || key.includes('xxx'))).toBe(false);
  });

  it('polls, gateway calls and webhooks are counted under their labels', async () => {
    const instruments = new Instruments();
    instruments.poll('carddata', 'succeeded', 300);
    instruments.claimed('carddata', { items: [{ lane: 'schedule' }, { lane: 'manual' }], lateMs: [40_000] });
    instruments.settled('carddata', [{ verdict: 'done' }, { verdict: 'done' }, { verdict: 'failed' }], 1);
    instruments.webhookAttempt('retried');
    const gateway = new FlowControlledGateway({
      gateway: {
        ...ONE_CARD_A_CALL,
        call: () => Promise.reject(new Error('refused')),
        isStoppedStatus: () => false,
        endSlowCalls: () => {},
      },
      cardsPerCall: () => 1,
      meter: instruments,
      clock: new FakeClock(),
      random: () => 0,
      onChange: () => {},
    });
    await expect(gateway.call('flow', { cardId: 1, iccid: '1', carrierId: 0 }, 1_000)).rejects.toThrow(
      'refused',
    );
    const text = await instruments.registry.metrics();
    for (const line of [
      'cardpoll_poll_duration_seconds_bucket{le="0.25",task_type="carddata",result="succeeded"} 0',
      'cardpoll_poll_duration_seconds_bucket{le="0.5",task_type="carddata",result="succeeded"} 1',
      'cardpoll_poll_lateness_seconds_bucket{le="30",task_type="carddata"} 0',
      'cardpoll_poll_lateness_seconds_bucket{le="60",task_type="carddata"} 1',
      'cardpoll_claims_total{task_type="carddata",lane="manual"} 1',
      'cardpoll_settlements_total{task_type="carddata",verdict="done"} 2',
      'cardpoll_settlements_total{task_type="carddata",verdict="returned"} 0',
      'cardpoll_fenced_total{task_type="carddata"} 1',
      'cardpoll_gateway_call_duration_seconds_count{interface="flow",result="failed"} 1',
      'cardpoll_webhook_attempts_total{outcome="retried"} 1',
    ])
      expect(text.split('\n')).toContain(line);
  });
});

it('metrics show firing and silenced alerts, and pending webhooks', async () => {
  const { alerts } = api.records;
  const rule = await alerts.createRule(ruleFields({ webhookUrl: 'http://h/' }));
  await applyToRules(alerts, { kind: 'fired', value: 2 });
  const silence = { ruleId: rule.id, ruleType: null, taskType: null, reason: '', by: 'ann' };
  await alerts.silences.create({ ...silence, ends: { inSeconds: 60 } });
  const labels = 'rule_type="queue_backlog",task_type="package"';
  expect(Object.fromEntries((await scrape(api)).values)).toMatchObject({
    [`cardpoll_alerts_firing{${labels}}`]: 1,
    [`cardpoll_alerts_silenced{${labels}}`]: 1,
    [`cardpoll_alerts_acknowledged{${labels}}`]: 0,
    cardpoll_webhooks_pending: 1,
  });
});

describe('access', () => {
  it('needs a token where tokens are configured', async () => {
    const closed = await startApi({ redisUrl: redis.url, databaseUrl, tokens: [TOKEN] });
    const refused = await closed.call('GET', '/metrics');
    expect(refused).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(await closed.call('GET', '/metrics', WITH_TOKEN)).toMatchObject({ status: 200 });
    await closed.close();
  });
});

it('metrics of the process are served while Redis is away', async () => {
  const own = await freshRedis();
  const cut = await startApi({ redisUrl: own.url, databaseUrl: await freshDatabase() });
  expect((await scrape(cut)).values.get('cardpoll_stores_up')).toBe(1);
  await own.stop();
  const { values } = await scrape(cut);
  expect(values.get('cardpoll_stores_up')).toBe(0);
  expect(values.get('cardpoll_process_resident_memory_bytes')).toBeGreaterThan(0);
  expect(values.has('cardpoll_cards')).toBe(false);
  await cut.close();
});

describe('what is shipped', () => {
  const read = (path: string) =>
    readFileSync(fileURLToPath(new URL(`../../../../deploy/${path}`, import.meta.url)), 'utf8');
  /** A histogram is one name, whatever part of it is asked for. */
  const namesIn = (text: string) =>
    [...new Set(text.match(/\bcardpoll_\w+/g))].map((name) => name.replace(/_seconds_bucket$/, '_seconds'));

  interface Rule {
    readonly alert: string;
    readonly expr: string;
    readonly labels: { readonly severity: string };
    readonly annotations: Readonly<Record<string, string>>;
  }

  it('rules name only exported metrics, and hold the thresholds of the operations interface', async () => {
    const { groups } = parse(read('prometheus/cardpoll-rules.yaml')) as { groups: Array<{ rules: Rule[] }> };
    const rules = groups.flatMap((group) => group.rules);
    const { types } = await scrape(api);
    for (const { alert, expr, labels, annotations } of rules) {
      expect(namesIn(expr), alert).not.toEqual([]);
      for (const name of namesIn(expr)) expect(types.has(name), `${alert}: ${name}`).toBe(true);
      expect(['warning', 'critical']).toContain(labels.severity);
      expect(annotations).toMatchObject({ summary: expect.any(String), action: expect.any(String) });
    }
    const thresholdOf = (alert: string) =>
      rules.find((rule) => rule.alert === alert)?.expr.match(/[<>=]+ [\d.]+$/)?.[0];
    expect(thresholdOf('CardpollQueueBacklog')).toBe('> 50000');
    expect(thresholdOf('CardpollSuccessRateLow')).toBe('< 0.9');
    expect(thresholdOf('CardpollPollsSlow')).toBe('> 2');
    expect(thresholdOf('CardpollConcurrencyExhausted')).toBe('> 0.95');
  });

  it('the dashboard names only exported metrics, and its panels do not overlap', async () => {
    interface Panel {
      readonly id: number;
      readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
      readonly type: string;
      readonly targets: ReadonlyArray<{ readonly expr: string }>;
    }
    const { panels, title } = JSON.parse(read('grafana/cardpoll.json')) as { panels: Panel[]; title: string };
    expect(title).toBe('cardpoll');
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const { types } = await scrape(api);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels[0]?.type).toBe('row');
    for (const { type, targets } of panels) {
      expect(targets.length === 0).toBe(type === 'row');
      for (const { expr } of targets) {
        expect(namesIn(expr)).not.toEqual([]);
        for (const name of namesIn(expr)) expect(types.has(name), name).toBe(true);
      }
    }
  });

  it('docs/metrics.md has every exported metric, and no other', async () => {
    const text = readFileSync(fileURLToPath(new URL('../../../../docs/metrics.md', import.meta.url)), 'utf8');
    const rows = [...text.matchAll(/^\| `(cardpoll_\w+)` +\| \S.*? +\|$/gm)];
    const { types } = await scrape(api);
    expect(rows.map(([, name]) => name).sort()).toEqual([...types.keys()].sort());
  });
});
