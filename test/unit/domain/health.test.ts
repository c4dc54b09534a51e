// Verdicts on the metrics of operations interface, section 8, at the borders of their ranges.
import { describe, expect, it } from 'vitest';
import { judgeMetrics, worst } from '../../../src/domain/health.ts';

const fine = { queueLength: 0, successRate: 99, avgDurationMs: 100, concurrencyPercent: 60 };

describe('judgeMetrics', () => {
  it.each([
    [{ queueLength: 9_999 }, 'normal'],
    [{ queueLength: 10_000 }, 'warning'],
    [{ queueLength: 50_000 }, 'warning'],
    [{ queueLength: 50_001 }, 'alert'],
    [{ successRate: 95.1 }, 'normal'],
    [{ successRate: 95 }, 'warning'],
    [{ successRate: 90 }, 'warning'],
    [{ successRate: 89.9 }, 'alert'],
    [{ successRate: null }, 'normal'],
    [{ avgDurationMs: 499 }, 'normal'],
    [{ avgDurationMs: 500 }, 'warning'],
    [{ avgDurationMs: 2_000 }, 'warning'],
    [{ avgDurationMs: 2_001 }, 'alert'],
    [{ avgDurationMs: null }, 'normal'],
    [{ concurrencyPercent: 95 }, 'normal'],
    [{ concurrencyPercent: 95.1 }, 'alert'],
  ] as const)('%o is %s', (change, health) => {
    expect(worst(Object.values(judgeMetrics({ ...fine, ...change })))).toBe(health);
  });

  it('judges each metric by itself', () => {
    expect(judgeMetrics({ ...fine, queueLength: 20_000, successRate: 10 })).toEqual({
      queue_backlog: 'warning',
      success_rate: 'alert',
      avg_duration: 'normal',
      concurrency_usage: 'normal',
    });
  });
});
