// States of the dashboard for its tests: nothing known, a calm fleet, and one in which everything is wrong at once, with
// the longest values the API lets through and names that try to steer the terminal.

import { reduce } from '../../../src/dashboard/model.ts';
import {
  type Bodies,
  type Event,
  initialState,
  type Received,
  type Source,
  type State,
} from '../../../src/dashboard/state.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { CARD, CONFIG, OVERVIEW, task } from '../cli/bodies.ts';

export const URL = 'http://127.0.0.1:7480';
const NOW = Date.parse(OVERVIEW.generated_at);
export const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();

/** What would steer a terminal, break a line, or turn the text around. */
export const HOSTILE = '\x1b]0;owned\x07\x1b[2J\r\n\u202e流量检查\u200d🦊'.padEnd(100, '量');

export const CALM: Bodies['overview'] = {
  ...OVERVIEW,
  health: 'normal',
  health_reasons: [],
  capacity: { ...OVERVIEW.capacity, drain_seconds: 0, advice: null },
  gateway: {
    ...OVERVIEW.gateway,
    interfaces: [closed('gateway'), closed('realname'), closed('flow')],
  },
  tasks: TASK_TYPES.map((taskType) => task(taskType)),
  init: { ...OVERVIEW.init, status: 'completed', percent: 100, finished_at: at(60), eta_seconds: null },
  workers: [instance('worker-1', 1)],
};

export const TROUBLED: Bodies['overview'] = {
  ...OVERVIEW,
  cards_total: 50_000_000,
  health: 'alert',
  health_reasons: [
    ...['paused', 'breaker_open', 'interval_missed', 'overloaded'].map((code) => ({
      code: code as 'paused',
      severity: 'alert' as const,
      text: `carddata: ${HOSTILE} demand exceeds the limit: raise the limit of carddata to 100000, or poll it 1.8 times less often`,
      command: 'cardpoll concurrency set carddata 100000',
      task_type: 'carddata' as const,
      caused_by: null,
      since: at(7_200),
    })),
  ],
  capacity: {
    ...OVERVIEW.capacity,
    headroom_percent: -1_234.5,
    drain_seconds: null,
    advice:
      'raise the limit of realname to 100000, or poll realname 12.3 times less often; raise the limit of carddata to 99999',
  },
  gateway: {
    ...OVERVIEW.gateway,
    interfaces: [
      {
        interface: 'gateway',
        breaker: 'open',
        since: at(90),
        reason: HOSTILE,
        next_probe_at: at(-53),
        instances: 64,
      },
      {
        interface: 'flow',
        breaker: 'half_open',
        since: at(9),
        reason: 'timeout',
        next_probe_at: null,
        instances: 1,
      },
    ],
  },
  stops: {
    mode: 'observe',
    ...{
      done_hour: 100_000,
      done_day: 100_000,
      budget_hour: 100_000,
      budget_day: 500_000,
      fleet_cards: 10_000_000,
    },
    ...{
      held: 100_000,
      held_for_operator: 100_000,
      observed: 100_000,
      unconfirmed: 10_000,
      released: 0,
      resumed_day: 100_000,
      over_running: 0,
      over_running_at: '2026-11-21T09:50:00.000Z',
      over_running_cards: [],
      stopped_within: 0,
      stopped_within_cards: [],
    },
  },
  pauses: TASK_TYPES.map((task_type) => ({
    task_type,
    source: 'gateway' as const,
    reason: HOSTILE,
    by: 'vm-with-a-very-long-name-1234567890',
    since: at(10),
    until: at(-604_800),
    maintenance_id: null,
  })),
  tasks: TASK_TYPES.map((taskType) =>
    task(taskType, {
      health: 'alert',
      queue_length: 49_999_999,
      due: 49_999_999,
      backoff: 10_000,
      manual_length: 9_999_999,
      scheduled_cards: 50_000_000,
      schedule_lag_seconds: 2_591_999,
      achieved_interval_seconds: 9_999_999,
      skipped_revolutions: 1_234,
      concurrency: { current: 100_000, max: 100_000, usage_percent: 100 },
      effective_concurrency: 99_999,
      success_rate: 12.345,
      avg_duration_ms: 123_456.7,
      success_rate_10s: 12.345,
      p50_ms_10s: 98_765.4,
      p95_ms_10s: 123_456.7,
      rate_per_second: 123_456.7,
      rate_per_second_10s: 123_456.7,
    }),
  ),
  init: { ...OVERVIEW.init, status: 'stuck', total: 50_000_000, loaded: 12_345_678 },
  workers: Array.from({ length: 64 }, (_, i) => instance(`vm-with-a-very-long-name-1234567890-${i}`, i)),
};

function closed(name: 'gateway' | 'realname' | 'flow') {
  return {
    interface: name,
    breaker: 'closed' as const,
    since: null,
    reason: null,
    next_probe_at: null,
    instances: 0,
  };
}

function instance(hostname: string, i: number): Bodies['overview']['workers'][number] {
  return {
    worker_id: `${hostname}-7-${String(i).padStart(6, '0')}`,
    hostname,
    pid: 4_000_000 + i,
    version: i === 1 ? '0.1.0' : '0.2.0-rc.1',
    roles: ['worker', 'api', 'scheduler'],
    probe_address: '127.0.0.1:7480',
    started_at: at(90_000),
    heartbeat_at: at(i),
    in_flight: 100_000,
    cache_hits: 1,
    cache_misses: 1,
    cache_hit_ratio: 0.5,
    loop_delay_ms: 2,
    cpu_percent: 35,
    redis_ms: 1,
    database_ms: 3,
  };
}

/** Every second of fifteen minutes but for a gap of one in their middle. */
export const HISTORY: Bodies['history'] = {
  step_seconds: 1,
  items: Array.from({ length: 900 }, (_, i) => 900 - i)
    .filter((secondsAgo) => secondsAgo < 420 || secondsAgo > 480)
    .map((secondsAgo) => ({
      at: at(secondsAgo),
      tasks: TASK_TYPES.map((task_type) => ({
        task_type,
        rate_per_second: 100 + secondsAgo,
        failed_per_second: 1,
        success_rate: 99,
        p50_ms: 20,
        p95_ms: 45_678.9,
        queue_length: 12_345_678,
        in_flight: 60,
        backoff: 7,
        manual_length: 0,
        schedule_lag_seconds: 0,
        effective_concurrency: 100,
        max_concurrency: 100,
      })),
    })),
};

export const ALERT: Bodies['alerts']['items'][number] = {
  id: 1,
  rule_id: 1,
  rule_name: HOSTILE,
  rule_type: 'queue_backlog',
  task_type: 'carddata',
  comparison: '>',
  threshold: 50_000,
  value: 49_999_999.123,
  cause: null,
  cause_since: null,
  earlier_causes: [],
  fired_at: at(300),
  resolved_at: null,
  resolution: null,
  resolved_value: null,
  acknowledged_at: null,
  acknowledged_by: null,
  acknowledged_reason: null,
  silenced: false,
  notifications: [
    { channel: 'webhook', event: 'alert.fired', status: 'failed', attempts: 9, last_error: HOSTILE },
  ] as unknown as Bodies['alerts']['items'][number]['notifications'],
};

export const TRIGGER: Bodies['triggers']['items'][number] = {
  trigger_id: '5f0c2a9be17d4c33',
  kind: 'by_condition',
  task_type: 'carddata',
  status: 'running',
  selection: { carrier_id: 7, status: null },
  total: 49_999_999,
  total_estimated: true,
  succeeded: 12_345_678,
  failed: 1_234_567,
  waiting: 30_000_000,
  early: 0,
  early_until: null,
  running: 100,
  created_at: at(3_600),
  finished_at: null,
};

export const STOP: Bodies['stops']['items'][number] = {
  card_id: 42,
  iccid: '89860012345678901234',
  carrier_id: 7,
  month: '2026-11',
  state: 'held',
  used_mb: 1_024.25,
  allowance_mb: 1_000,
  held_by: 'budget_hour',
  held_for: 'reading',
  held_until: at(-3_300),
  pending_since: null,
  pending_until: null,
  ordered_by: null,
  reason: null,
  requested_at: at(300),
  completed_at: null,
  resumed_at: null,
  stop_again: false,
  attempts: 0,
  unconfirmed: 0,
  last_error: null,
};

/** An answer with these stops. */
export function stopsBody(
  state: Bodies['stops']['state'],
  ...items: readonly Partial<typeof STOP>[]
): Bodies['stops'] {
  return {
    state,
    items: items.map((one) => ({ ...STOP, ...one, ...(state === null ? {} : { state }) })),
    page: 1,
    page_size: 100,
    total: items.length,
  };
}

const TROUBLED_BODIES: Bodies = {
  overview: TROUBLED,
  history: HISTORY,
  failures: {
    items: TASK_TYPES.map((task_type) => ({
      task_type,
      reasons: [
        { reason: 'backpressure', count: 1_234_567 },
        { reason: HOSTILE, count: 1 },
      ],
      carriers: [{ carrier_id: 7, polls: 100, failed: 96, failed_percent: 96 }],
      failing_cards: 10_000,
      cards: Array.from({ length: 20 }, (_, i) => ({
        card_id: Number.MAX_SAFE_INTEGER - i,
        at: at(i),
        reason: 'server_error',
        message: HOSTILE,
        duration_ms: 30_000,
        attempts: 123,
      })),
    })),
  },
  firing: {
    items: Array.from({ length: 100 }, (_, id) => ({ ...ALERT, id })),
    page: 1,
    page_size: 100,
    total: 123_456,
  },
  alerts: {
    items: Array.from({ length: 100 }, (_, id) => ({ ...ALERT, id: 1_000 + id, resolved_at: at(200) })),
    page: 1,
    page_size: 100,
    total: 1_000_000,
  },
  triggers: { items: Array.from({ length: 100 }, () => TRIGGER), page: 1, page_size: 100, total: 1_000_000 },
  configs: {
    items: Array.from({ length: 100 }, (_, id) => ({
      ...CONFIG,
      id,
      name: HOSTILE,
      problems: [HOSTILE, HOSTILE],
    })),
  },
  stops: {
    ...stopsBody(
      'held',
      ...Array.from({ length: 100 }, (_, i) => ({
        card_id: Number.MAX_SAFE_INTEGER - i,
        carrier_id: 2_147_483_647,
        used_mb: 12_345_678.91,
        ordered_by: HOSTILE,
        reason: HOSTILE,
      })),
    ),
    total: 100_000,
  },
  latest: stopsBody('held', STOP),
  audit: {
    items: Array.from({ length: 10 }, (_, id) => ({
      id,
      at: at(60 * id),
      actor: HOSTILE,
      role: 'operator',
      address: null,
      request_id: null,
      action: 'concurrency.set',
      object: HOSTILE,
      before: null,
      after: null,
    })),
    page: 1,
    page_size: 10,
    total: 10,
  },
  cleanup: {
    run_id: 'r',
    status: 'failed',
    items: [
      { target: 'usage', total: 1, deleted: 0, error: HOSTILE },
    ] as unknown as Bodies['cleanup']['items'],
    deleted: 1,
    batches: 1,
    started_at: at(9),
    finished_at: at(3),
  },
  card: {
    generated_at: at(0),
    card: { ...CARD, iccid: '89860012345678901234', used_mb_month: 12_345_678.9, allowance_mb: 256 },
    tasks: TASK_TYPES.map((task_type) => ({
      task_type,
      state: 'not_loaded' as const,
      text: HOSTILE.repeat(3),
      command: 'cardpoll concurrency set realname 100000',
      config: { id: 1, name: HOSTILE, interval_seconds: 2_592_000 },
      other_configs: [{ id: 2, name: HOSTILE, reason: HOSTILE }],
      ring: { bucket: 1_234, buckets: 131_072, member: false },
      next_due_at: at(99_999),
      overdue_seconds: 99_999,
      cards_before: 50_000_000,
      expected_in_seconds: null,
      last_succeeded_at: null,
      last_failure: {
        at: at(5),
        reason: 'timeout',
        message: HOSTILE,
        duration_ms: 30_000,
        attempts: 99,
        next_try_at: at(-5),
      },
    })),
    usage: Array.from({ length: 24 }, () => ({ month: '2026-11', used_mb: 12_345_678 })),
    stops: Array.from({ length: 24 }, () => ({ at: at(5), action: 'stop', detail: HOSTILE })),
    open_triggers: Array.from({ length: 24 }, () => ({
      trigger_id: '5f0c2a9be17d4c33',
      kind: 'by_condition',
      task_type: 'package' as const,
      created_at: at(5),
    })),
    logs_commands: [],
    allowance: null,
    logs_command: `cardpoll logs --roots /var/log/cardpoll --iccid 89860012345678901234 --date 2026-11-21`,
    logs_on: Array.from({ length: 24 }, (_, nth) => `host-${nth}`),
    logs_directory: '/var/log/cardpoll',
  },
};

export function received<S extends Source>(source: S, body: Bodies[S], atMs = 0): Event {
  return { type: 'received', reading: { source, body } as Received, atMs };
}

export function stateAfter(state: State, ...events: readonly Event[]): State {
  return events.reduce(reduce, state);
}

export function keys(...names: readonly string[]): Event[] {
  return names.map((key) => ({ type: 'key', key }));
}

/** Every character a key. */
export function typing(text: string): Event[] {
  return keys(...text);
}

export function emptyState(given: Partial<State> = {}): State {
  return { ...initialState({ daemon: URL, columns: 80, rows: 24, nowMs: 0 }), ...given };
}

export function calmState(given: Partial<State> = {}): State {
  const bodies: Partial<Bodies> = {
    overview: CALM,
    history: HISTORY,
    failures: {
      items: TASK_TYPES.map((task_type) => ({
        task_type,
        reasons: [],
        carriers: [],
        failing_cards: 0,
        cards: [],
      })),
    },
    firing: { items: [], page: 1, page_size: 100, total: 0 },
    alerts: { items: [], page: 1, page_size: 100, total: 0 },
    triggers: { items: [TRIGGER], page: 1, page_size: 100, total: 1 },
    configs: { items: [CONFIG] },
    stops: stopsBody(null),
    cleanup: { ...TROUBLED_BODIES.cleanup, status: 'idle', items: [] },
  };
  return stateWith(bodies, given);
}

export function troubledState(given: Partial<State> = {}): State {
  return stateWith(TROUBLED_BODIES, given);
}

function stateWith(bodies: Partial<Bodies>, given: Partial<State>): State {
  const events = Object.entries(bodies).map(([source, body]) => received(source as Source, body as never));
  return { ...stateAfter(emptyState(), ...events), card: '42', ...given };
}
