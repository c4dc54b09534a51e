// Logs one line per request, when its answer is sent or its client is gone. Used by server.ts. Also gives every request its id.
// Never logs a query string, a body or a token.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Actor } from '../domain/audit.ts';
import { VERSION } from '../platform/version.ts';
import { VERSION_HEADER } from '../resources/endpoints.ts';

const REQUEST_ID = 'x-request-id';
const WELL_FORMED = /^[\w.:-]{1,128}$/;

/** Status logged for a client that left before its answer was out, as nginx does. */
const CLIENT_GONE = 499;

/** Browsers must not guess the type of an answer, or store it. */
const FOR_BROWSERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null only before authentication and on public routes. */
    actor: Actor;
  }
}

/** The client's own id when it is well-formed, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers[REQUEST_ID];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}

/** Adds the request's id and this version to the answer, and logs the request when it is over. */
export function observe(log: Pick<Logger, 'info'>, request: FastifyRequest, reply: FastifyReply): void {
  const startedMs = performance.now();
  reply.headers({ [REQUEST_ID]: request.id, [VERSION_HEADER]: VERSION, ...FOR_BROWSERS });
  reply.raw.once('close', () => {
    log.info(
      {
        request_id: request.id,
        method: request.method,
        path: pathOf(request),
        status: reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_GONE,
        duration_ms: Math.round((performance.now() - startedMs) * 100) / 100,
        token: (request.actor as Actor | null)?.name ?? null,
        remote_address: request.ip,
      },
      'request',
    );
  });
}

export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.split('?', 1)[0] ?? url;
}
