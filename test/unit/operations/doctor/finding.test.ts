import { expect, it } from 'vitest';
import { ok } from '../../../../src/domain/finding.ts';
import { answered, failure } from '../../../../src/operations/doctor/finding.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';

const AWAY = new CardpollError('unavailable', 'redis_unreachable', 'nobody answers', { hint: 'start it' });

it('a check that ended with an error failed, with its words and what to do', () => {
  expect(failure('redis', AWAY, 'systemctl start redis')).toEqual({
    ...{ check: 'redis', status: 'failed', detail: 'nobody answers' },
    ...{ hint: 'start it', command: 'systemctl start redis' },
  });
  expect(failure('redis', new Error('odd'))).toMatchObject({ detail: 'odd', hint: null, command: null });
});

it('a check without an answer found out nothing, and one with an answer what it found', async () => {
  expect(await answered('rings', () => Promise.reject(AWAY))).toEqual([
    { check: 'rings', status: 'unknown', detail: 'nobody answers', hint: 'start it', command: null },
  ]);
  const finding = ok('rings', 'all well');
  expect(await answered('rings', async () => [finding])).toEqual([finding]);
});
