// Bounds how long handlers may take. Used by server.ts for every route but the import. The framework's handlerTimeout
// does not serve: it stops counting as soon as a request's body has been read.
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { CardpollError } from '../platform/errors.ts';

/**
 * Makes the routes registered after it in this scope answer within `ms`, with `unavailable` when they cannot: nothing
 * but a store that does not answer takes long. What the handler started goes on, unheard.
 */
export function answerInTime(app: FastifyInstance, ms: number): void {
  app.addHook('onRoute', (route) => {
    const handler = route.handler as (...args: Parameters<RouteHandlerMethod>) => Promise<unknown>;
    route.handler = function timed(request, reply) {
      return within(ms, handler.call(this, request, reply));
    };
  });
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new CardpollError('unavailable', 'store_timeout', 'a store did not answer in time')),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
