// Statistics as JSON (03, "Fields"). Used by routes/polling-stats.ts; what the numbers mean stands in operations/.
import { z } from 'zod';
import { instant, taskType } from './fields.ts';

const health = z.enum(['normal', 'warning', 'alert']);

export const queueStats = z.object({
  task_type: taskType,
  queue_length: z.int(),
  due: z.int(),
  in_flight: z.int(),
  manual_length: z.int(),
  scheduled_cards: z.int(),
  schedule_lag_seconds: z.number(),
  concurrency: z.object({ current: z.int(), max: z.int(), usage_percent: z.number() }),
});

export const taskStats = queueStats.extend({
  total: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  success_rate: z.number().nullable(),
  avg_duration_ms: z.number().nullable(),
  rate_per_second: z.number(),
  health,
});

export const initProgress = z.object({
  status: z.enum(['pending', 'running', 'completed', 'stuck']),
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

const worker = z.object({
  worker_id: z.string(),
  hostname: z.string(),
  pid: z.int(),
  version: z.string(),
  roles: z.array(z.string()),
  started_at: instant,
  heartbeat_at: instant,
  in_flight: z.int(),
  cache_hits: z.int(),
  cache_misses: z.int(),
  cache_hit_ratio: z.number().nullable(),
});

export const overview = z.object({
  generated_at: instant,
  version: z.string(),
  health,
  cards_total: z.int(),
  tasks: z.array(taskStats),
  init: initProgress,
  workers: z.array(worker),
});
