import { describe, expect, it } from 'vitest';
import { ok } from '../../../../src/domain/finding.ts';
import { answered, clockFinding, failure } from '../../../../src/operations/doctor/finding.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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

describe('the clock of a server', () => {
  /** What is found of a server whose clock is so far ahead, and which takes so long to say so. */
  function found(aheadMs: number, answerMs = 0) {
    const clock = new FakeClock();
    const read = async () => {
      clock.advance(answerMs / 2);
      const theirs = clock.now() + aheadMs;
      clock.advance(answerMs / 2);
      return theirs;
    };
    return clockFinding('their clock', read, clock);
  }

  it.each([
    [0, '+0 ms against this machine'],
    [1_000, '+1000 ms against this machine'],
    [-1_000, '-1000 ms against this machine'],
  ])('%i ms are harmless', async (aheadMs, detail) => {
    expect(await found(aheadMs)).toEqual({
      check: 'their clock',
      status: 'ok',
      detail,
      hint: null,
      command: null,
    });
  });

  it.each([
    [1_001, 'warning'],
    [-10_000, 'warning'],
    [10_001, 'failed'],
    [-10_001, 'failed'],
  ])('%i ms: %s, with what to do', async (aheadMs, status) => {
    const sign = aheadMs > 0 ? '+' : '';
    expect(await found(aheadMs)).toMatchObject({
      status,
      detail: expect.stringContaining(`${sign}${aheadMs} ms against this machine: instances`),
      hint: expect.stringContaining('synchronise'),
      command: 'timedatectl set-ntp true',
    });
  });

  it('takes the time of a slow answer for no difference', async () => {
    expect(await found(0, 8_000)).toMatchObject({ status: 'ok', detail: '+0 ms against this machine' });
  });

  it('says what kept the server from telling', async () => {
    const error = new CardpollError('unavailable', 'redis_unreachable', 'nobody answers', {
      hint: 'start it',
    });
    expect(await clockFinding('their clock', () => Promise.reject(error), new FakeClock())).toEqual({
      ...{
        check: 'their clock',
        status: 'failed',
        detail: 'nobody answers',
        hint: 'start it',
        command: null,
      },
    });
  });
});
