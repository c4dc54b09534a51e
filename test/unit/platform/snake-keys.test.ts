import { expect, it } from 'vitest';
import { camelKeys, snakeKeys } from '../../../src/platform/snake-keys.ts';

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
