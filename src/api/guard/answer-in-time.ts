// Bounds how long handlers may take. Used by server.ts for every route but the import. The framework's handlerTimeout
// does not serve: it stops counting as soon as a request's body has been read.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LateAnswer } from '../../operations/repeatable-requests.ts';
import { CardpollError } from '../../platform/errors.ts';
import { problemText } from '../error-handling.ts';
import { problemOf } from '../problem.ts';
import { type Handler, HeldReply } from './held-reply.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of a request answered before its work was over; null for all others. Never rejects. */
    late: Promise<LateAnswer> | null;
  }
}

const READING = new Set(['GET', 'HEAD']);

/**
 * Makes the routes registered after it in this scope answer within `ms`, with `unavailable` when they cannot: nothing
 * but a store that does not answer takes long. The work of the handler continues; `request.late` reports how it ends.
 */
export function answerInTime(app: FastifyInstance, ms: number): void {
  app.decorateRequest('late', null);
  app.addHook('onRoute', (route) => {
    const handler = route.handler as Handler;
    route.handler = async function timed(request, reply) {
      const work = HeldReply.of(reply.statusCode, (held) => handler.call(this, request, held));
      const held = await Promise.race([work, after(ms, work)]);
      if (held !== null) return held.sendOn(reply);
      request.late = lateAnswer(work, request, reply);
      throw tooLate(request.method);
    };
  });
}

/** Resolves after the time, unless the work was faster. */
function after(ms: number, work: Promise<unknown>): Promise<null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    const cancel = () => clearTimeout(timer);
    work.then(cancel, cancel);
  });
}

async function lateAnswer(
  work: Promise<HeldReply>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<LateAnswer> {
  try {
    return { ...(await work).written(reply), error: null };
  } catch (error) {
    const problem = problemOf(error);
    return { status: problem.status, body: problemText(problem, request), error };
  }
}

function tooLate(method: string): CardpollError {
  const hint = READING.has(method)
    ? 'try again; /readyz shows which store is away'
    : 'it may still be done: look first, or send it again with the same Idempotency-Key';
  return new CardpollError('unavailable', 'store_timeout', 'a store did not answer in time', { hint });
}
