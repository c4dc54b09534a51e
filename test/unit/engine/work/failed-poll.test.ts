import { expect, it } from 'vitest';
import { failureNoteOf, NO_RETRY, reasonOf, retryOf } from '../../../../src/engine/work/failed-poll.ts';
import { GatewayError, type GatewayFailure } from '../../../../src/gateway/gateway.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';

const MINUTE_MS = 60_000;

it.each(['card', 'business'] as const)('retries no card that the gateway refuses: %s', (failure) => {
  expect(retryOf(new GatewayError(failure, 'no', { retryAfterMs: 5_000 }), MINUTE_MS)).toEqual(NO_RETRY);
});

const FAILURES: readonly GatewayFailure[] = ['timeout', 'http', 'backpressure', 'held', 'malformed'];

it.each(FAILURES)('retries what may succeed later until its ring asks for it: %s', (failure) => {
  const error = new GatewayError(failure, 'later');
  expect(retryOf(error, 30_000)).toEqual({ capMs: 30_000, waitMs: 0 });
  expect(retryOf(error, MINUTE_MS)).toEqual({ capMs: MINUTE_MS, waitMs: 0 });
  expect(retryOf(error, 60 * MINUTE_MS), 'pauses grow to a minute at most').toEqual({
    capMs: MINUTE_MS,
    waitMs: 0,
  });
});

it('waits for as long as the gateway named', () => {
  const error = new GatewayError('backpressure', 'HTTP 429', { retryAfterMs: 7_000 });
  expect(retryOf(error, MINUTE_MS)).toEqual({ capMs: MINUTE_MS, waitMs: 7_000 });
});

it('retries what failed on our side like any other', () => {
  expect(retryOf(new CardpollError('unavailable', 'redis_unreachable', 'away'), MINUTE_MS)).toEqual({
    capMs: MINUTE_MS,
    waitMs: 0,
  });
  expect(retryOf('an unknown error', 30_000)).toEqual({ capMs: 30_000, waitMs: 0 });
});

it.each([
  ['the kind of what the gateway did', new GatewayError('timeout', 'no answer'), 'timeout'],
  [
    'the code of an error of ours',
    new CardpollError('unavailable', 'redis_unreachable', 'x'),
    'redis_unreachable',
  ],
  ['internal for a mistake in the program', new TypeError('x is not a function'), 'internal'],
])('names as reason %s', (_, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});

it('remembers the beginning of what the gateway said, which may be a page', () => {
  const page = `<html>${'x'.repeat(10_000)}`;
  expect(failureNoteOf(new GatewayError('http', page), 7, 120)).toEqual({
    cardId: 7,
    reason: 'http',
    message: page.slice(0, 200),
    durationMs: 120,
  });
});
