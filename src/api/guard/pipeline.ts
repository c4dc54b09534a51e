// The steps that check a request and send its answer: every hook of the server, in running order. A step passes the request to
// the next one, or throws the error that refuses it. Installed by server.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { CardpollError } from '../../platform/errors.ts';
import { observe } from '../access-log.ts';
import { logBrokenOff } from '../error-handling.ts';
import { sendVersion } from '../etag.ts';
import type { HttpServers } from '../http-server.ts';
import type { Instruments } from '../metrics/instruments.ts';
import { UNAUTHENTICATED } from '../problem.ts';
import { setStatus } from '../schemas/answers.ts';
import type { Access, Limits } from './access.ts';
import { boundBodyTime, refuseEncodedBody, refuseUntakenBody } from './bodies.ts';
import { markRepeat, nameRepeat } from './idempotency.ts';
import { refuseExpectation, requireOneHost } from './protocol.ts';

/**
 * `callers`: requests that need a token, if there are tokens. `admin`: the API without the import. Each is part of the previous
 * one.
 */
type Coverage = 'all' | 'callers' | 'admin';
type Phase =
  | 'onRequest'
  | 'preParsing'
  | 'preValidation'
  | 'preHandler'
  | 'preSerialization'
  | 'onSend'
  | 'onResponse';

/** @param answer the answer to be sent, from preSerialization on. */
type Judge = (request: FastifyRequest, reply: FastifyReply, answer: unknown) => void | Promise<void>;
export type Step = readonly [covers: Coverage, phase: Phase, judge: Judge];

interface Parts {
  readonly logs: { readonly api: Pick<Logger, 'error'>; readonly access: Pick<Logger, 'info'> };
  readonly instruments: Instruments;
  readonly access: Access;
  readonly limits: Limits;
  readonly servers: HttpServers;
  readonly bodyTimeoutMs: number;
}

export function pipelineOf(parts: Parts): readonly Step[] {
  const { logs, instruments, access, limits, servers, bodyTimeoutMs } = parts;
  const admit: Judge = async (request, reply) => {
    try {
      access.admit(request);
    } catch (error) {
      await limits.refusals(request, reply);
      if (error instanceof CardpollError && error.code === UNAUTHENTICATED)
        instruments.refused('unauthenticated');
      throw error;
    }
    servers.connections.trust(request.raw.socket);
  };
  const count: Judge = ({ method, routeOptions }, { statusCode, elapsedTime }) =>
    instruments.request(method, routeOptions.url ?? null, statusCode, elapsedTime);
  return [
    ['all', 'onRequest', (request, reply) => observe(logs.access, request, reply)],
    // Before any step that may refuse, because the unread body of a refused request must arrive in time, too.
    ['all', 'onRequest', boundBodyTime(bodyTimeoutMs, instruments)],
    ['all', 'onRequest', requireOneHost],
    ['all', 'onRequest', refuseExpectation],
    ['callers', 'onRequest', admit],
    ['callers', 'onRequest', limits.callers],
    ['all', 'preParsing', refuseEncodedBody],
    ['all', 'preValidation', refuseUntakenBody],
    ['all', 'preHandler', setStatus],
    ['admin', 'preHandler', nameRepeat],
    ['admin', 'preSerialization', sendVersion],
    ['all', 'onSend', (request, reply, answer) => logBrokenOff(logs.api, request, reply, answer)],
    ['all', 'onSend', (request, reply) => servers.announceIdleTime(request, reply)],
    ['admin', 'onSend', markRepeat],
    ['all', 'onResponse', count],
  ];
}

/** Call before the first route of the covered scope is registered. */
export function judge(app: FastifyInstance, steps: readonly Step[], covers: Coverage): void {
  for (const [covered, phase, step] of steps) {
    const hook = async (...request: Parameters<Judge>) => step(...request);
    if (covered === covers) app.addHook(phase as 'onSend', hook);
  }
}
