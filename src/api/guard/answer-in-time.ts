// Limits the time of handlers. Used by server.ts for every route except the import and routes marked `takesLong`. The framework's
// handlerTimeout is no alternative: it stops counting as soon as a request's body has been read.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { systemClock, withTimeout } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer has no time limit. */
    takesLong?: boolean;
  }
}

const READING = new Set(['GET', 'HEAD']);

/**
 * Makes the routes registered after it in this scope answer within `ms`, otherwise with `unavailable`: only a store that does not
 * answer takes that long. The handler continues, and a repeat of the request finds the change that it makes
 * (operations/audit.ts). By then another answer may be sent, so these handlers return their answer, and do not get the reply.
 */
export function answerInTime(app: FastifyInstance, ms: number): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.takesLong === true) return;
    const handler = route.handler as Handler;
    route.handler = async function timed(request) {
      const work = handler.call(this, request);
      if (await withTimeout(ms, work, systemClock)) return work;
      throw tooLate(request.method);
    };
  });
}

type Handler = (request: FastifyRequest) => Promise<unknown>;

function tooLate(method: string): CardpollError {
  const hint = READING.has(method)
    ? 'try again; /readyz shows which store is away'
    : 'it may still be done: look first, or send it again with the same Idempotency-Key';
  return new CardpollError('unavailable', 'store_timeout', 'a store did not answer in time', { hint });
}
