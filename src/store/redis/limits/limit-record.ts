// The leader's record of a limit as JSON in Redis. Used by work-queue.ts.
import type { LimitRecord } from '../../ports/live/work-queue.ts';

interface PackedRecord {
  readonly limit: number | null;
  readonly normal_ms: number | null;
  readonly reason: string | null;
  readonly curve: ReadonlyArray<{
    readonly concurrency: number;
    readonly rate_per_second: number;
    readonly avg_duration_ms: number;
    readonly backpressure_percent: number;
    readonly at_ms: number;
  }>;
}

export function packLimitRecord({ limit, normalMs, reason, curve }: LimitRecord): string {
  const packed: PackedRecord = {
    limit,
    normal_ms: normalMs,
    reason,
    curve: curve.map((point) => ({
      concurrency: point.concurrency,
      rate_per_second: point.ratePerSecond,
      avg_duration_ms: point.avgDurationMs,
      backpressure_percent: point.backpressurePercent,
      at_ms: point.atMs,
    })),
  };
  return JSON.stringify(packed);
}

export function unpackLimitRecord(text: string): LimitRecord {
  const { limit, normal_ms, reason, curve } = JSON.parse(text) as PackedRecord;
  return {
    limit,
    normalMs: normal_ms,
    reason,
    curve: curve.map((point) => ({
      concurrency: point.concurrency,
      ratePerSecond: point.rate_per_second,
      avgDurationMs: point.avg_duration_ms,
      backpressurePercent: point.backpressure_percent,
      atMs: point.at_ms,
    })),
  };
}
