// What a daemon answers, as the contract has it. Shared by the tests of the command line.
import { perTaskType, type TaskType } from '../../../src/domain/task-type.ts';
import { toWire } from '../../../src/platform/snake-keys.ts';
import type { CardBody } from '../../../src/resources/cards.ts';
import type { ConfigBody, InitStateBody } from '../../../src/resources/schedule.ts';
import type { OverviewBody, TaskBody } from '../../../src/resources/stats.ts';
import { card } from '../../support/cards.ts';

const CAPACITY = {
  demand_per_second: 277.78,
  capacity_per_second: 833.33,
  bound_by: 'concurrency' as const,
  headroom_percent: 66.67,
  drain_seconds: 30,
  held_by: null,
};

export function task(taskType: TaskType, over: Partial<TaskBody> = {}): TaskBody {
  return {
    task_type: taskType,
    queue_length: 12_345,
    due: 12_000,
    in_flight: 60,
    manual_length: 5,
    backoff: 7,
    scheduled_cards: 1_000_000,
    demand_per_second: 277.78,
    overdue_cards: 25_000,
    interval_seconds: 3_600,
    achieved_interval_seconds: 3_600,
    skipped_revolutions: 0,
    schedule_lag_seconds: 90,
    concurrency: { current: 60, max: 100, usage_percent: 60 },
    effective_concurrency: 100,
    total: 1_000,
    succeeded: 990,
    failed: 10,
    held: 0,
    success_rate: 99,
    duration_ms: 120_500,
    avg_duration_ms: 120.5,
    p50_ms: 110,
    p95_ms: 250.5,
    polled_percent: 100,
    rate_per_second: 55.25,
    rate_per_second_10s: 50,
    success_rate_10s: 99,
    avg_duration_ms_10s: 120.5,
    p50_ms_10s: 110,
    p95_ms_10s: 250.5,
    usual_duration_ms: 118,
    capacity: CAPACITY,
    advice: {
      verdict: 'keep',
      max_concurrency: 100,
      recommended: { min: 50, max: 100 },
      remedy: null,
      why: '50 to 100 are recommended at 0.12 s a call',
    },
    offered: true,
    health: 'normal',
    health_reasons: [],
    ...over,
  };
}

export const OVERVIEW: OverviewBody = {
  generated_at: '2026-11-21T10:00:00.000Z',
  version: '0.1.0',
  health: 'alert',
  health_reasons: [
    {
      code: 'paused',
      severity: 'alert',
      text: 'package: paused by the gateway for 60 s more: HTTP 429',
      command: 'cardpoll resume package',
      task_type: 'package',
      caused_by: null,
      since: '2026-11-21T09:58:00.000Z',
    },
  ],
  cards_total: 1_000_000,
  capacity: {
    ...CAPACITY,
    drain_seconds: null,
    advice: 'raise the limit of realname to 180',
    headroom_task_type: 'realname',
  },
  gateway: { interfaces: [], avg_duration_ms_10s: 24, success_rate_10s: 100, slow: false },
  stops: {
    mode: 'enforce',
    ...{ done_hour: 12, done_day: 340, budget_hour: 100, budget_day: 500, fleet_cards: 10_000 },
    ...{
      held: 0,
      held_for_operator: 0,
      observed: 0,
      unconfirmed: 0,
      released: 0,
      resumed_day: 0,
      over_running: 0,
      over_running_at: '2026-11-21T09:50:00.000Z',
      over_running_cards: [],
      stopped_within: 0,
      stopped_within_cards: [],
    },
  },
  pauses: [],
  maintenance: [],
  month_end: null,
  on_time: {
    percent: 99.8,
    since: '2026-11-21T09:00:00.000Z',
    polls: 100_000,
    late: 200,
    worst: { carrier_id: 2, percent: 97 },
  },
  tasks: [
    task('realname'),
    task('carddata', { health: 'warning', avg_duration_ms: 50 }),
    task('package', { health: 'alert', success_rate: null, avg_duration_ms: null, success_rate_10s: null }),
  ],
  init: {
    status: 'running',
    reason: 'build',
    total: 1_000_000,
    loaded: 250_000,
    percent: 25,
    batch: 3,
    batches: 10,
    started_at: '2026-11-21T09:59:30.000Z',
    updated_at: '2026-11-21T10:00:00.000Z',
    finished_at: null,
    eta_seconds: 3_900,
  },
  workers: [],
};

const { usage: _, ...attributes } = card(42, {
  iccid: '89860012345678901234',
  realNameVerified: true,
  stopped: true,
});

export const CARD: CardBody = {
  ...toWire(attributes),
  used_mb_month: 12.5,
  usage_month: '2026-11',
  last_polled_at: { ...perTaskType(() => null), realname: '2026-11-21T09:58:00.000Z' },
  next_due_at: { ...perTaskType(() => null), realname: '2026-11-21T11:00:00.000Z' },
};

export const CONFIG: ConfigBody = {
  id: 3,
  name: '流量检查\u001b[31m',
  task_type: 'carddata',
  card_condition: 'any',
  carrier_id: null,
  interval_seconds: 1_800,
  priority: 0,
  status: 1,
  members: 1_000_000,
  achieved_interval_seconds: 1_800,
  skipped_revolutions: 0,
  problems: [],
};

export const INIT_STATE: InitStateBody = {
  ...OVERVIEW.init,
  reconciliation: {
    reason: 'continuous',
    checked: 12,
    started_at: '2026-11-21T09:59:30.000Z',
    swept_at: null,
    healed_missing: 3,
    healed_foreign: 2,
    healed_double: 1,
    requested_at: null,
  },
};
