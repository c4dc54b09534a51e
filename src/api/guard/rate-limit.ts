// How many requests a caller may send a minute. Used by server.ts for everything that needs authentication; probes are
// exempt. Callers are distinguished by token, without tokens by address. Each instance counts by itself.
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { CardpollError } from '../../platform/errors.ts';
import { RATE_LIMITED } from '../problem.ts';
import { LOCAL } from './auth.ts';
import type { Refusals } from './refusals.ts';

const WINDOW_MS = 60_000;

/** Call after authentication is in place. @param perMinute read with every request; 0: no limit. */
export async function limitRate(
  app: FastifyInstance,
  perMinute: () => number,
  refusals: Refusals,
): Promise<void> {
  await app.register(rateLimit, {
    timeWindow: WINDOW_MS,
    max: () => perMinute(),
    allowList: () => perMinute() === 0,
    keyGenerator: ({ actor, ip }) => `${actor.name} ${actor.name === LOCAL ? ip : ''}`,
    enableDraftSpec: true,
    onExceeded: () => refusals.add('rate_limit'),
    errorResponseBuilder: (_request, { max }) =>
      tooManyRequests(`more than ${max} requests a minute`, 'api.rate_limit_per_minute'),
  });
}

export function tooManyRequests(what: string, setting: string): CardpollError {
  return new CardpollError('busy', RATE_LIMITED, what, {
    hint: `retry after the time in Retry-After; the limit is ${setting}`,
  });
}
