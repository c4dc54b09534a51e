// Bounds how long the body of a request may take to arrive, even if the answer has already been sent.
// Used by server.ts for every route. Imports have no total limit, but must deliver at least 1 KiB per timeout, unless
// the import itself makes the sender wait.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from '../error-handling.ts';
import type { Refusals } from './refusals.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself, as it arrives. */
    streamedBody?: boolean;
  }
}

const LEAST_PROGRESS_BYTES = 1_024;

/** Call before any hook that may refuse a request: what it leaves unread counts too. */
export function limitBodyTime(app: FastifyInstance, ms: number, refusals: Refusals): void {
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    if (!hasBody(request) || raw.complete) return;
    const isStreamed = request.routeOptions.config.streamedBody === true;
    let received = raw.socket.bytesRead;
    const timer = setInterval(() => {
      const progress = raw.socket.bytesRead - received;
      received = raw.socket.bytesRead;
      if (isStreamed && (raw.isPaused() || progress >= LEAST_PROGRESS_BYTES)) return;
      clearInterval(timer);
      refusals.add('body_timeout');
      giveUp(request, reply, ms);
    }, ms);
    raw.once('end', () => clearInterval(timer));
    raw.once('close', () => clearInterval(timer));
  });
}

export function hasBody({ headers }: FastifyRequest): boolean {
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
