// What a daemon answers, as the contract has it. Shared by the tests of the command line.
import type { CardBody, ConfigBody, OverviewBody, TaskBody } from '../../../src/api/client.ts';
import type { TaskType } from '../../../src/domain/task-type.ts';

export function task(taskType: TaskType, over: Partial<TaskBody> = {}): TaskBody {
  return {
    task_type: taskType,
    queue_length: 12_345,
    due: 12_000,
    in_flight: 60,
    manual_length: 5,
    scheduled_cards: 1_000_000,
    schedule_lag_seconds: 90,
    concurrency: { current: 60, max: 100, usage_percent: 60 },
    total: 1_000,
    succeeded: 990,
    failed: 10,
    success_rate: 99,
    avg_duration_ms: 120.5,
    rate_per_second: 55.25,
    health: 'normal',
    ...over,
  };
}

export const OVERVIEW: OverviewBody = {
  generated_at: '2026-11-21T10:00:00.000Z',
  version: '0.1.0',
  health: 'alert',
  cards_total: 1_000_000,
  tasks: [
    task('realname'),
    task('carddata', { health: 'warning', avg_duration_ms: 50 }),
    task('package', { health: 'alert', success_rate: null, avg_duration_ms: null }),
  ],
  init: {
    status: 'running',
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

export const CARD: CardBody = {
  card_id: 42,
  iccid: '89860012345678901234',
  carrier_id: 1,
  status: 1,
  real_name_verified: true,
  stopped: true,
  allowance_mb: null,
  used_mb_month: 12.5,
  usage_month: '2026-11',
  last_polled_at: { realname: '2026-11-21T09:58:00.000Z', carddata: null, package: null },
  next_due_at: { realname: '2026-11-21T11:00:00.000Z', carddata: null, package: null },
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
};
