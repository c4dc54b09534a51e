// Operations interface, section 8, as code: the thresholds of the four metrics. The only place that has these numbers.

export type Health = 'normal' | 'warning' | 'alert';

/** Health as a number, for alert rules. */
export const HEALTH_LEVELS: Readonly<Record<Health, number>> = { normal: 0, warning: 1, alert: 2 };

/** The metrics of operations interface, section 8; metrics that alert rules can watch have the names of the rule types. */
export const METRICS = ['queue_backlog', 'success_rate', 'avg_duration', 'concurrency_usage'] as const;
export type Metric = (typeof METRICS)[number];

export interface HealthInputs {
  readonly queueLength: number;
  /** Percent; null without samples. */
  readonly successRate: number | null;
  /** Milliseconds; null without samples. */
  readonly avgDurationMs: number | null;
  /** Running tasks in percent of the limit. */
  readonly concurrencyPercent: number;
}

export const QUEUE_LENGTH = { normalBelow: 10_000, alertAbove: 50_000 };
export const SUCCESS_RATE = { normalAbove: 95, alertBelow: 90 };
export const AVG_DURATION_MS = { normalBelow: 500, alertAbove: 2_000 };
const CONCURRENCY_PERCENT = { alertAbove: 95 };

function rising(value: number, normalBelow: number, alertAbove: number): Health {
  if (value > alertAbove) return 'alert';
  return value < normalBelow ? 'normal' : 'warning';
}

/** The verdict on each metric of a task type; normal without samples. */
export function judgeMetrics(inputs: HealthInputs): Record<Metric, Health> {
  const { queueLength, successRate, avgDurationMs, concurrencyPercent } = inputs;
  return {
    queue_backlog: rising(queueLength, QUEUE_LENGTH.normalBelow, QUEUE_LENGTH.alertAbove),
    success_rate: successRate === null ? 'normal' : judgeSuccess(successRate),
    avg_duration:
      avgDurationMs === null
        ? 'normal'
        : rising(avgDurationMs, AVG_DURATION_MS.normalBelow, AVG_DURATION_MS.alertAbove),
    // Low usage is an idle fleet, not a fault, and 80 to 95 % is a busy one: only the alert threshold counts.
    concurrency_usage: concurrencyPercent > CONCURRENCY_PERCENT.alertAbove ? 'alert' : 'normal',
  };
}

export function judgeSuccess(percent: number): Health {
  if (percent < SUCCESS_RATE.alertBelow) return 'alert';
  return percent > SUCCESS_RATE.normalAbove ? 'normal' : 'warning';
}

/** The worst of several verdicts; normal for none. */
export function worst(verdicts: readonly Health[]): Health {
  if (verdicts.includes('alert')) return 'alert';
  return verdicts.includes('warning') ? 'warning' : 'normal';
}
