// Turns every way a request can fail into a problem answer: errors of handlers and of the framework, paths that do
// not exist, bytes that are no HTTP. Used by server.ts. Which status an error gets is problem.ts; methods a path does
// not have are method-not-allowed.ts.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { CardpollError } from '../platform/errors.ts';
import { pathOf } from './access-log.ts';
import { PROBLEM_TYPE, type Problem, type ProblemBody, problemOf } from './problem.ts';

/** Answers with a problem. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="cardpoll"');
  return reply.code(problem.status).type(PROBLEM_TYPE).send(problemText(problem, request));
}

/** The body of a problem. Serialised here: a route's own response schemas are about its successes. */
export function problemText(problem: Problem, request: FastifyRequest): string {
  return JSON.stringify(problemBody(problem, pathOf(request), request.id));
}

/** Answers with the problem an error is, and logs it when it is ours. */
export function sendError(
  log: Pick<Logger, 'error'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const problem = problemOf(error);
  if (problem.status >= 500) {
    log.error(
      { request_id: request.id, path: pathOf(request), code: problem.code, err: error },
      'request failed',
    );
  }
  sendProblem(request, reply, problem);
}

export function handleErrors(app: FastifyInstance, log: Pick<Logger, 'error'>): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(log, error, request, reply));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(request, reply, {
      status: 404,
      code: 'not_found',
      detail: `there is nothing at ${pathOf(request)}`,
    }),
  );
}

/** Refuses HTTP/1.1 without a Host header, as the protocol wants; the server itself would do so with an empty answer. */
export function requireHost({ raw, headers }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion !== '1.0') {
    throw new CardpollError('bad_data', 'malformed_request', 'the request has no Host header');
  }
}

/** For bytes that never became a request: malformed HTTP, oversized headers, a head that never ends. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = CLIENT_ERROR_STATUS[error.code ?? ''] ?? 400;
  const detail = 'the request is not well-formed HTTP';
  const body = JSON.stringify(problemBody({ status, code: 'malformed_request', detail }, '', ''));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const CLIENT_ERROR_STATUS: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

function problemBody(problem: Problem, instance: string, requestId: string): ProblemBody {
  return {
    type: `urn:cardpoll:problem:${problem.code}`,
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    instance,
    request_id: requestId,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.errors === undefined ? {} : { errors: [...problem.errors] }),
  };
}
