import { expect, it } from 'vitest';
import { camelKeys, snakeCase, snakeKeys, toWire } from '../../../src/platform/snake-keys.ts';

it('names become snake_case, however deep, and values stay', () => {
  expect(
    snakeKeys({
      maxConcurrency: 5,
      p95Ms: null,
      already_snake: 'staysAsItIs',
      taskTypes: [{ taskType: 'realName' }, 'maxLimit', null],
      firedAt: new Date(0),
    }),
  ).toEqual({
    max_concurrency: 5,
    p95_ms: null,
    already_snake: 'staysAsItIs',
    task_types: [{ task_type: 'realName' }, 'maxLimit', null],
    fired_at: '1970-01-01T00:00:00.000Z',
  });
});

it('camelKeys takes snakeKeys back', () => {
  const value = { p95Ms: null, breakers: [{ sinceMs: 1, nextProbeAtMs: null }], curve: ['as_it_is'] };
  expect(camelKeys(snakeKeys(value))).toEqual(value);
});

it('toWire converts keys deeply and dates to RFC 3339 in UTC', () => {
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

it('snakeCase leaves snake_case names as they are', () => {
  expect(snakeCase('max_concurrency')).toBe('max_concurrency');
  expect(snakeCase('avgDurationMs')).toBe('avg_duration_ms');
});
