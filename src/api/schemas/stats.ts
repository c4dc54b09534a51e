// Statistics as JSON (contract, "Fields"). Used by routes/polling-stats.ts; what the numbers mean stands in operations/.
import { z } from 'zod';
import { instant, taskType } from './fields.ts';
import { pause } from './pauses.ts';

const health = z.enum(['normal', 'warning', 'alert']);

const healthReason = z.object({
  code: z.string(),
  task_type: taskType.nullable(),
  severity: z.enum(['warning', 'alert']),
  text: z.string(),
  command: z.string().nullable(),
  since: instant.nullable(),
});

const capacity = z.object({
  demand_per_second: z.number(),
  capacity_per_second: z.number().nullable(),
  headroom_percent: z.number().nullable(),
  drain_seconds: z.int().nullable(),
});

const gatewayInterface = z.object({
  interface: z.string(),
  breaker: z.enum(['closed', 'open', 'half_open']),
  since: instant.nullable(),
  reason: z.string().nullable(),
  next_probe_at: instant.nullable(),
  instances: z.int(),
});

export const queueStats = z
  .object({
    task_type: taskType,
    queue_length: z.int(),
    due: z.int(),
    in_flight: z.int(),
    manual_length: z.int(),
    backoff: z.int(),
    scheduled_cards: z.int(),
    demand_per_second: z.number(),
    schedule_lag_seconds: z.number(),
    overdue_cards: z.int(),
    interval_seconds: z.number().nullable(),
    achieved_interval_seconds: z.number().nullable(),
    skipped_revolutions: z.int(),
    concurrency: z.object({ current: z.int(), max: z.int(), usage_percent: z.number() }),
    effective_concurrency: z.int(),
  })
  .meta({ id: 'QueueStats' });

export const taskStats = queueStats
  .extend({
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    success_rate: z.number().nullable(),
    avg_duration_ms: z.number().nullable(),
    p50_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
    rate_per_second: z.number(),
    rate_per_second_10s: z.number(),
    capacity,
    health,
    health_reasons: z.array(healthReason),
  })
  .meta({ id: 'TaskStats' });

export const initProgress = z.object({
  status: z.enum(['pending', 'running', 'completed', 'stuck']),
  reason: z.string(),
  total: z.int(),
  loaded: z.int(),
  percent: z.number(),
  batch: z.int(),
  batches: z.int(),
  started_at: instant.nullable(),
  updated_at: instant.nullable(),
  finished_at: instant.nullable(),
  eta_seconds: z.number().nullable(),
});

export const initState = initProgress
  .extend({
    reconciliation: z.object({
      reason: z.string(),
      checked: z.int(),
      started_at: instant.nullable(),
      swept_at: instant.nullable(),
      healed_missing: z.int(),
      healed_foreign: z.int(),
      healed_double: z.int(),
      requested_at: instant.nullable(),
    }),
  })
  .meta({ id: 'InitState' });

const worker = z.object({
  worker_id: z.string(),
  hostname: z.string(),
  pid: z.int(),
  version: z.string(),
  roles: z.array(z.string()),
  probe_address: z.string().nullable(),
  started_at: instant,
  heartbeat_at: instant,
  in_flight: z.int(),
  cache_hits: z.int(),
  cache_misses: z.int(),
  cache_hit_ratio: z.number().nullable(),
});

export const overview = z
  .object({
    generated_at: instant,
    version: z.string(),
    health,
    health_reasons: z.array(healthReason),
    cards_total: z.int(),
    capacity: capacity.extend({ advice: z.string().nullable() }),
    gateway: z.object({ interfaces: z.array(gatewayInterface) }),
    pauses: z.array(pause),
    stops: z.object({ unconfirmed: z.int().nullable() }),
    tasks: z.array(taskStats),
    init: initProgress,
    workers: z.array(worker),
  })
  .meta({ id: 'Overview' });

const taskSample = z.object({
  task_type: taskType,
  rate_per_second: z.number().nullable(),
  failed_per_second: z.number().nullable(),
  success_rate: z.number().nullable(),
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  queue_length: z.number(),
  in_flight: z.number(),
  backoff: z.number(),
  manual_length: z.number(),
  effective_concurrency: z.number(),
  max_concurrency: z.number(),
});

export const history = z
  .object({
    step_seconds: z.int(),
    items: z.array(z.object({ at: instant, tasks: z.array(taskSample) })),
  })
  .meta({ id: 'History' });

export const taskFailures = z
  .object({
    task_type: taskType,
    reasons: z.array(z.object({ reason: z.string(), count: z.int() })),
    carriers: z.array(
      z.object({ carrier_id: z.int(), polls: z.int(), failed: z.int(), failed_percent: z.number() }),
    ),
    failing_cards: z.int(),
    cards: z.array(
      z.object({
        card_id: z.int(),
        at: instant,
        reason: z.string(),
        message: z.string(),
        duration_ms: z.number(),
        attempts: z.int(),
      }),
    ),
  })
  .meta({ id: 'TaskFailures' });
