// Limits the bodies of requests. They must arrive in time and uncompressed: no route reads compressed ones, and they could expand
// a thousandfold. JSON is refused if it is malformed, would change prototypes, repeats a field or is nested deeply. So is a body
// that no route reads: otherwise a misspelt request would do more than intended. Used by pipeline.ts; the card import reads its
// own body.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CardpollError } from '../../platform/errors.ts';
import { isObject, jsonFault } from '../../platform/json.ts';
import { sendProblem } from '../error-handling.ts';
import type { Instruments } from '../metrics/instruments.ts';
import { UNKNOWN_FIELD, UNSUPPORTED_ENCODING } from '../problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself, as it arrives. */
    streamedBody?: boolean;
  }
}

const LEAST_PROGRESS_BYTES = 1_024;

/**
 * Bounds how long the body of a request may take to arrive, even if the answer has already been sent. Imports have no total
 * limit, but must deliver at least 1 KiB per timeout, unless the import itself makes the sender wait.
 */
export function boundBodyTime(ms: number, instruments: Pick<Instruments, 'refused'>) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const { raw } = request;
    if (!hasBody(request) || raw.complete) return;
    const isStreamed = request.routeOptions.config.streamedBody === true;
    let received = raw.socket.bytesRead;
    const timer = setInterval(() => {
      const progress = raw.socket.bytesRead - received;
      received = raw.socket.bytesRead;
      if (isStreamed && (raw.isPaused() || progress >= LEAST_PROGRESS_BYTES)) return;
      clearInterval(timer);
      instruments.refused('body_timeout');
      giveUp(request, reply, ms);
    }, ms);
    raw.once('end', () => clearInterval(timer));
    raw.once('close', () => clearInterval(timer));
  };
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function giveUp(request: FastifyRequest, reply: FastifyReply, ms: number): void {
  if (reply.sent) {
    request.raw.destroy();
    return;
  }
  reply.header('connection', 'close');
  const detail = `the body did not arrive within ${ms} ms`;
  sendProblem(request, reply, { status: 408, code: 'request_timeout', detail });
}

/**
 * The framework's own parser with one exception: routes without a body accept an empty one with the content type of JSON, which
 * many clients send with every POST.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text.length === 0 && request.routeOptions.schema?.body === undefined) done(null, undefined);
    else parse(request, text as string, (error, body) => done(error ?? faultIn(text as string), body));
  });
}

function faultIn(json: string): CardpollError | null {
  const fault = jsonFault(json);
  return fault === null ? null : new CardpollError('bad_data', fault.code, `the JSON ${fault.detail}`);
}

export function refuseEncodedBody({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return;
  reply.header('accept-encoding', 'identity');
  throw new CardpollError('bad_data', UNSUPPORTED_ENCODING, 'the body is compressed or otherwise encoded', {
    hint: 'send it as it is, without Content-Encoding',
  });
}

/** Clients that always send an object may send an empty one. */
export function refuseUntakenBody(request: FastifyRequest): void {
  const { body, is404, method, routeOptions } = request;
  if (is404 || routeOptions.schema?.body !== undefined) return;
  // The framework reads no body of a GET.
  if (body === undefined && !(method === 'GET' && hasBody(request))) return;
  const names = isObject(body) ? Object.keys(body) : null;
  if (names?.length === 0) return;
  throw new CardpollError('invalid', 'body_not_taken', 'the request takes no body', {
    fields: names?.map((field) => ({ field, message: UNKNOWN_FIELD })) ?? [
      { field: 'body', message: 'is not taken here' },
    ],
  });
}
