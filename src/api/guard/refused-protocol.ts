// What a client may ask of HTTP itself and does not get here: expectations other than 100-continue, tunnels, bytes that
// are not HTTP. Used by server.ts. The answers are problems and are in the access log, like all others.
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { CardpollError } from '../../platform/errors.ts';
import { problemText } from '../error-handling.ts';
import { EXPECTATION_FAILED, PROBLEM_TYPE, type Problem } from '../problem.ts';
import type { RefusalReason, Refusals } from './refusals.ts';

type AccessLog = Pick<Logger, 'info'>;

/** Node keeps `Expect: 100-continue` to itself; what else arrives here cannot be met. */
export function refuseExpectation({ headers: { expect } }: FastifyRequest): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  throw new CardpollError('bad_data', EXPECTATION_FAILED, 'the expectation in Expect cannot be met', {
    hint: 'send the request without this header',
  });
}

/** CONNECT never becomes a request for the framework. */
export function refuseTunnels(server: Server, log: AccessLog): Server {
  return server.on('connect', (request: IncomingMessage, socket: Socket) => {
    const detail = 'CONNECT is not served: this is no proxy';
    answerOnSocket(socket, log, 'CONNECT', { status: 501, code: 'method_not_implemented', detail });
    request.resume();
  });
}

const MALFORMED: Problem = {
  status: 400,
  code: 'malformed_request',
  detail: 'the request is not well-formed HTTP',
};
const PROBLEMS: Readonly<Record<string, Problem & { readonly reason: RefusalReason }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    detail: 'the head of the request did not arrive in time',
    reason: 'header_timeout',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'malformed_request',
    detail: 'the head of the request is too large',
    reason: 'malformed',
  },
};

/** For bytes that never became a request: malformed HTTP, oversized headers, a head that never ends. */
export function clientErrorHandler(log: AccessLog, refusals: Refusals) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const { code = '' } = error;
    // Gone, or it speaks no TLS and would not read what we say with it.
    if (code === 'ECONNRESET' || !socket.writable || /^ERR_(SSL|TLS)/.test(code)) {
      socket.destroy();
      return;
    }
    const { reason, ...problem } = PROBLEMS[code] ?? { ...MALFORMED, reason: 'malformed' };
    refusals.add(reason);
    answerOnSocket(socket, log, null, problem);
  };
}

function answerOnSocket(socket: Socket, log: AccessLog, method: string | null, problem: Problem): void {
  const requestId = randomUUID();
  const { remoteAddress = null } = socket;
  const body = problemText(problem, { url: '', id: requestId });
  socket.on('error', () => {});
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `X-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
  log.info(
    {
      request_id: requestId,
      method,
      path: null,
      status: problem.status,
      duration_ms: 0,
      token: null,
      remote_address: remoteAddress,
    },
    'request',
  );
}
