// Turns all failures of a request into problem answers: errors of handlers and of the framework, unknown paths, methods that a
// path does not have. Used by server.ts. problem.ts chooses the status; guard/protocol.ts refuses data before it is a request.
import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { pathOf } from './access-log.ts';
import { PROBLEM_TYPE, type Problem, type ProblemBody, problemOf } from './problem.ts';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** Retry-After of a 429 that is not from the limit per minute. */
const RETRY_AFTER_SECONDS = 5;

export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 429 && !reply.hasHeader('retry-after'))
    reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="cardpoll"');
  return reply.code(problem.status).type(PROBLEM_TYPE).send(problemText(problem, request));
}

/** The body of a problem. Serialised here, because a route's response schemas describe only its successes. */
export function problemText(problem: Problem, request: Pick<FastifyRequest, 'id' | 'url'>): string {
  const body: ProblemBody = {
    type: `urn:cardpoll:problem:${problem.code}`,
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    instance: pathOf(request),
    request_id: request.id,
    hint: problem.hint,
    errors: problem.errors,
  };
  return JSON.stringify(body);
}

/** Answers with the problem of an error, and logs it when it is our fault. */
export function sendError(
  log: Pick<Logger, 'error'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const problem = problemOf(error);
  if (problem.status >= 500) log.error(failureFields(error, problem, request), 'request failed');
  sendProblem(request, reply, problem);
}

function failureFields(error: unknown, { code }: Problem, request: FastifyRequest) {
  return { request_id: request.id, path: pathOf(request), code, err: error };
}

/** Logs a broken stream. A stream that fails before its head is sent goes to the error handler. */
export function logBrokenOff(
  log: Pick<Logger, 'error'>,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): void {
  if (!(answer instanceof Readable)) return;
  answer.once('error', (error) => {
    if (reply.raw.headersSent)
      log.error(failureFields(error, problemOf(error), request), 'answer broken off');
  });
}

/** @param onUnknownPath may throw another refusal. */
export function handleErrors(
  app: FastifyInstance,
  log: Pick<Logger, 'error'>,
  onUnknownPath: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    sendError(log, error, request, reply);
    return reply;
  });
  app.setNotFoundHandler(async (request, reply) => {
    await onUnknownPath(request, reply);
    const problem = METHODS.includes(request.method)
      ? { status: 404, code: 'not_found', detail: `there is nothing at ${pathOf(request)}` }
      : {
          status: 501,
          code: 'method_not_implemented',
          detail: `${request.method} is not served anywhere here`,
        };
    return sendProblem(request, reply, problem);
  });
}

/**
 * Answers 405 with Allow for the methods that a path does not have; the framework would answer 404, as if the path did not exist.
 * Call before the first route is registered.
 * @returns a function to call after the last route, which adds the refusals.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const served = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = served.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    served.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...served]) refuse(app, url, [...methods].sort());
  };
}

function refuse(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    url,
    method: METHODS.filter((method) => !allowed.includes(method)),
    schema: { hide: true },
    // Before the body is read: the method is wrong for any body.
    onRequest: async (request, reply) => {
      reply.header('allow', allowed.join(', '));
      const detail = `${request.method} is not allowed here; allowed: ${allowed.join(', ')}`;
      return sendProblem(request, reply, { status: 405, code: 'method_not_allowed', detail });
    },
    handler: () => {},
  });
}
