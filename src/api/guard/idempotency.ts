// The Idempotency-Key of POST requests: names the request, so that its changes are made once (operations/audit.ts). Steps of
// pipeline.ts for every POST except the card import, whose body is a stream and which is repeatable without a key.
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CardpollError } from '../../platform/errors.ts';
import { snakeKeys } from '../../platform/snake-keys.ts';
import { bearerToken } from './auth.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';
const REPLAYED = 'idempotent-replayed';
const WELL_FORMED = /^[\x21-\x7e]{1,128}$/;

/** After validation, so that equal requests have equal bodies. */
export function nameRepeat(request: FastifyRequest): void {
  const key = request.headers[IDEMPOTENCY_KEY];
  if (request.method !== 'POST' || key === undefined) return;
  const named = { key: scoped(String(key), request), request: fingerprintOf(request) };
  request.actor = { ...request.actor, repeat: { ...named, changes: 0, isRepeat: false } };
}

export function markRepeat({ actor }: FastifyRequest, reply: FastifyReply): void {
  if (actor?.repeat?.isRepeat === true && reply.statusCode < 400) reply.header(REPLAYED, 'true');
}

/** Separates the keys of different clients. */
function scoped(key: string, { headers }: FastifyRequest): string {
  if (!WELL_FORMED.test(key)) {
    throw new CardpollError(
      'bad_data',
      'idempotency_key_malformed',
      'Idempotency-Key must be 1 to 128 printable characters without spaces',
    );
  }
  // The same token is the same client, in any spelling of the header.
  return sha256(`Bearer ${bearerToken(headers.authorization) ?? ''}\n${key}`);
}

/** Uses the names of the JSON, as instances of an older version do, too (except to create an alert rule). */
function fingerprintOf({ method, url, body }: FastifyRequest): string {
  return sha256(`${method} ${url}\n${JSON.stringify(snakeKeys(body ?? null))}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
