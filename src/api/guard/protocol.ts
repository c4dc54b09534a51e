// Checks the protocol of a request: exactly one Host, no expectation but 100-continue, and valid HTTP. Used by pipeline.ts and
// server.ts. The answers are problems and are in the access log, like all others.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { CardpollError } from '../../platform/errors.ts';
import { problemText } from '../error-handling.ts';
import type { Instruments } from '../metrics/instruments.ts';
import { EXPECTATION_FAILED, PROBLEM_TYPE, type Problem } from '../problem.ts';

/**
 * Without a Host Node itself would send an empty answer, and of two it would take the first, which another server on the way may
 * not.
 */
export function requireOneHost({ raw }: FastifyRequest): void {
  const hosts = raw.headersDistinct.host?.length ?? 0;
  if (hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0')) return;
  const what = hosts === 0 ? 'no Host header' : 'more than one Host header';
  throw new CardpollError('bad_data', 'malformed_request', `the request has ${what}`);
}

/** Node handles `Expect: 100-continue` itself; any other expectation cannot be met. */
export function refuseExpectation({ headers: { expect } }: FastifyRequest): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  throw new CardpollError('bad_data', EXPECTATION_FAILED, 'the expectation in Expect cannot be met', {
    hint: 'send the request without this header',
  });
}

const MALFORMED = { status: 400, code: 'malformed_request', detail: 'the request is not well-formed HTTP' };
const PROBLEMS: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    detail: 'the head of the request did not arrive in time',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'malformed_request',
    detail: 'the head of the request is too large',
  },
};

/** For bytes that never became a request: malformed HTTP, oversized headers, a head that never ends. */
export function clientErrorHandler(log: Pick<Logger, 'info'>, instruments: Pick<Instruments, 'refused'>) {
  return ({ code = '' }: NodeJS.ErrnoException, socket: Socket): void => {
    // The client is gone, or speaks no TLS and could not read an answer.
    if (code === 'ECONNRESET' || !socket.writable || /^ERR_(SSL|TLS)/.test(code)) {
      socket.destroy();
      return;
    }
    const problem = PROBLEMS[code] ?? MALFORMED;
    const { status } = problem;
    instruments.refused(status === 408 ? 'header_timeout' : 'malformed');
    const id = randomUUID();
    const body = problemText(problem, { id, url: '' });
    const refused = { method: null, path: null, status, remote_address: socket.remoteAddress ?? null };
    log.info({ request_id: id, ...refused, duration_ms: 0, token: null }, 'request');
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${PROBLEM_TYPE}\r\nX-Request-Id: ${id}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    );
  };
}
