import { describe, expect, it } from 'vitest';
import { toWire } from '../../../../src/api/client/wire.ts';
import { snakeCase } from '../../../../src/platform/snake-keys.ts';

describe('toWire', () => {
  it('converts keys deeply and dates to RFC 3339 in UTC', () => {
    const value = {
      taskType: 'realname',
      concurrency: { usagePercent: 12.5 },
      lastPolledAt: { realname: new Date(Date.UTC(2026, 10, 21, 9, 30)), carddata: null },
      items: [{ cardId: 1 }],
      roles: ['worker'],
    };
    expect(toWire(value)).toEqual({
      task_type: 'realname',
      concurrency: { usage_percent: 12.5 },
      last_polled_at: { realname: '2026-11-21T09:30:00.000Z', carddata: null },
      items: [{ card_id: 1 }],
      roles: ['worker'],
    });
  });

  it('leaves snake_case names as they are', () => {
    expect(snakeCase('max_concurrency')).toBe('max_concurrency');
    expect(snakeCase('avgDurationMs')).toBe('avg_duration_ms');
  });
});
