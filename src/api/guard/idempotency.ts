// The Idempotency-Key of POST requests: answers a repeated request with what the first one got. Used by server.ts for
// every POST but the card import, whose body is a stream and which is repeatable by itself. What may be repeated, and
// for how long, is operations/repeatable-requests.ts.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { RepeatableRequests, Ticket } from '../../operations/repeatable-requests.ts';
import { CardpollError } from '../../platform/errors.ts';
import { snakeKeys } from '../../platform/snake-keys.ts';
import { PROBLEM_TYPE } from '../problem.ts';
import { bearerToken } from './auth.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';
const REPLAYED = 'idempotent-replayed';
const WELL_FORMED = /^[\x21-\x7e]{1,128}$/;
const JSON_TYPE = 'application/json; charset=utf-8';

declare module 'fastify' {
  interface FastifyRequest {
    /** Held while a request with an Idempotency-Key runs. */
    ticket: Ticket | null;
  }
}

/** Covers the routes registered after it in this scope. */
export function answerRepeats(
  app: FastifyInstance,
  requests: RepeatableRequests,
  log: Pick<Logger, 'error'>,
): void {
  app.decorateRequest('ticket', null);
  // After validation: a request that cannot run needs no key, and equal requests look equal by then.
  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers[IDEMPOTENCY_KEY];
    if (request.method !== 'POST' || key === undefined) return;
    const [own, fingerprint] = [scoped(String(key), request), fingerprintOf(request)];
    const { ticket, answer } = await requests.admit(own, fingerprint);
    request.ticket = ticket;
    request.actor = { ...request.actor, repeat: { key: sha256(`${own}\n${fingerprint}`), changes: 0 } };
    if (answer === null) return;
    const type = answer.status < 400 ? JSON_TYPE : PROBLEM_TYPE;
    return reply.code(answer.status).header(REPLAYED, 'true').type(type).send(answer.body);
  });
  // The answer is kept before it leaves: a client that has seen it, or lost it on the way, gets the same again.
  app.addHook('onSend', async (request, reply, payload) => {
    const { ticket, late } = request;
    if (ticket === null) return;
    request.ticket = null;
    // The work is done, so the answer is sent; the key expires by itself.
    const notKept = (error: unknown) =>
      log.error({ request_id: request.id, err: error }, 'answer not kept for repeats');
    const kept =
      late === null
        ? requests.finish(ticket, { status: reply.statusCode, body: String(payload ?? '') }).catch(notKept)
        : requests.hold(ticket, late).catch(notKept);
    if (late === null) await kept;
  });
}

/** Keys of different clients are different keys. */
function scoped(key: string, { headers }: FastifyRequest): string {
  if (!WELL_FORMED.test(key)) {
    throw new CardpollError(
      'bad_data',
      'idempotency_key_malformed',
      'Idempotency-Key must be 1 to 128 printable characters without spaces',
    );
  }
  // However the header is written, the same token is the same client.
  return sha256(`Bearer ${bearerToken(headers.authorization) ?? ''}\n${key}`);
}

/** By the names in the JSON, which instances of an older version use, too (except to create an alert rule). */
function fingerprintOf({ method, url, body }: FastifyRequest): string {
  return sha256(`${method} ${url}\n${JSON.stringify(snakeKeys(body ?? null))}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
