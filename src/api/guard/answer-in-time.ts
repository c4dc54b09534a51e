// Bounds how long handlers may take. Used by server.ts for every route but the import. The framework's handlerTimeout
// does not serve: it stops counting as soon as a request's body has been read.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LateAnswer } from '../../operations/repeatable-requests.ts';
import { CardpollError } from '../../platform/errors.ts';
import { problemText } from '../error-handling.ts';
import { problemOf } from '../problem.ts';

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

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Holds back what a handler does with its reply until it is known whether the client still waits for it: one that ends late
 * must not touch an answer that is out already. Knows the few methods that handlers use.
 */
class HeldReply {
  readonly #headers: Record<string, string> = {};
  #payload: unknown;

  private constructor(private status: number) {}

  /** Runs a handler to its end. @param status unless the handler sets another. @returns what it answered. */
  static async of(status: number, run: (reply: FastifyReply) => Promise<unknown>): Promise<HeldReply> {
    const held = new HeldReply(status);
    const returned = await run(held as unknown as FastifyReply);
    if (returned !== held) held.#payload = returned;
    return held;
  }

  code(status: number): this {
    this.status = status;
    return this;
  }

  header(name: string, value: string): this {
    this.#headers[name] = value;
    return this;
  }

  type(contentType: string): this {
    return this.header('content-type', contentType);
  }

  send(payload: unknown): this {
    this.#payload = payload;
    return this;
  }

  sendOn(reply: FastifyReply): FastifyReply {
    return reply.code(this.status).headers(this.#headers).send(this.#payload);
  }

  /** As it would have been sent. */
  written(reply: FastifyReply): { readonly status: number; readonly body: string } {
    const body =
      this.#payload === undefined
        ? ''
        : reply.serializeInput(this.#payload as Record<string, unknown>, `${this.status}`);
    return { status: this.status, body: String(body ?? '') };
  }
}
