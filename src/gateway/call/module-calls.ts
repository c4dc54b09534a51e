// Calls the functions of the operator's module (domain/gateway/gateway-module.ts) and checks their answers. Any mistake of the
// module becomes an error of the call that names the module. Used by the client; without a module it adds nothing.

import { iccidDigits } from '../../domain/cards/iccid.ts';
import type { GatewayConfig, LoadedModule } from '../../domain/gateway/gateway-config.ts';
import type { GatewayResponse } from '../../domain/gateway/gateway-module.ts';
import { headerName } from '../../domain/gateway/header-name.ts';
import { INTERFACES, type InterfaceName } from '../../domain/gateway-interface.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { isObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/logger.ts';
import { NO_PROXIES } from '../../platform/proxy/http-proxy.ts';
import { type CalledCard, GatewayError, type GatewayFailure } from '../gateway.ts';
import {
  fixedProof,
  type GatewayRequest,
  maskFor,
  type Proof,
  pairs,
  prover,
  withSecrets,
  withSignature,
} from '../request/request.ts';
import { isAmong } from './answered-card.ts';
import { type AnswerValue, checkedValue } from './reading.ts';

const FAILURES: Readonly<Record<string, GatewayFailure>> = {
  unknown_card: 'card',
  throttled: 'backpressure',
  auth: 'auth',
  failed: 'business',
};
/** A slower module function is logged: all calls of the process wait for it. */
const SLOW_MS = 100;
const ADDED_HEADER = headerName();
/** Shortest time between two such log lines. */
const LOGGED_EVERY_MS = 60_000;

/** @returns the module, with its functions timed. */
export function watchedModule(
  module: LoadedModule | null,
  { clock, log }: { readonly clock: Pick<Clock, 'monotonic'>; readonly log: Logger },
): LoadedModule | null {
  if (module === null) return null;
  let quietUntil = Number.NEGATIVE_INFINITY;
  const timed =
    <Params extends readonly unknown[], Result>(name: string, run: (...params: Params) => Result) =>
    (...params: Params): Result => {
      const startedAt = clock.monotonic();
      try {
        return run(...params);
      } finally {
        const now = clock.monotonic();
        const tookMs = Math.round(now - startedAt);
        if (tookMs >= SLOW_MS && now >= quietUntil) {
          quietUntil = now + LOGGED_EVERY_MS;
          const about = { module: module.name, function: name, duration_ms: tookMs };
          log.warn(about, 'the module is slow, and all calls of this process wait for it');
        }
      }
    };
  const { sign, read } = module;
  return { ...module, sign: sign && timed('sign', sign), read: read && timed('read', read) };
}

/** @param proof of the current token; null: the credentials are fixed. */
type Finish = (request: GatewayRequest, proof: Proof | null, nowMs: number) => GatewayRequest;

/** Adds credentials and a signature. A module signs instead of cardpoll, without access to the credentials. */
export function finisherOf(profile: GatewayConfig, name: InterfaceName): Finish {
  const { hmacKey, module } = profile;
  const fixed = fixedProof(profile);
  const prove = prover();
  if (module !== null && module.sign !== null)
    return (request, proof, now) => prove(signed(profile, module, name, request, now), proof ?? fixed);
  return hmacKey === null
    ? (request, proof) => prove(request, proof ?? fixed)
    : (request, proof, now) => withSignature(prove(request, proof ?? fixed), hmacKey, now);
}

function signed(
  profile: GatewayConfig,
  module: LoadedModule,
  name: InterfaceName,
  request: GatewayRequest,
  now: number,
): GatewayRequest {
  const [path = ''] = request.path.split('?', 1);
  const query = request.path.slice(path.length);
  const unsigned = {
    interface: name,
    method: request.method,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: Object.fromEntries(pairs(request.headers)),
    body: request.body,
    key: profile.hmacKey,
    now,
  };
  return ask(profile, module.name, 'sign', 'connect', () => {
    const answer = mapOf(atOnce(module.sign?.(unsigned)), 'its answer');
    const { query: added, headers, body = request.body } = answer;
    if (typeof body !== 'string' && body !== null) throw new Error('body is not a text');
    if (body !== null && request.body === null) throw new Error('there is a body, but the request has none');
    const parameters = texts(added, 'query').map(
      ([parameter, value]) => `${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`,
    );
    return withSecrets(request, texts(headers, 'headers').map(headerOf), parameters.join('&'), body);
  });
}

function headerOf([name, value]: readonly [string, string]): [string, string] {
  if (!ADDED_HEADER.test(name) || !/^[\x20-\x7e]*$/.test(value))
    throw new Error(`the header ${JSON.stringify(name)} cannot be added`);
  return [name.toLowerCase(), value];
}

/** @returns a function that reads the value of a card; null: there is no module, or it leaves the answer to the profile. */
export function readByModule(
  profile: GatewayConfig,
  name: InterfaceName,
  response: GatewayResponse,
  cards: readonly CalledCard[],
): ((iccid: string) => AnswerValue | null) | null {
  const { module } = profile;
  if (module === null || module.read === null) return null;
  const kind = INTERFACES[name].answer?.kind;
  const asked = cards.map(({ iccid, cardId, carrierId }) => ({
    iccid,
    card_id: cardId,
    carrier_id: carrierId,
  }));
  const readings = ask(profile, module.name, 'read', 'malformed', () => {
    const answer = atOnce(module.read?.(name, response, asked));
    if (answer === undefined) return null;
    if (!Array.isArray(answer) || answer.length !== cards.length)
      throw new Error(`it has to answer a list with one reading for each of ${cards.length} cards`);
    return cards.map(({ iccid }, i) => [iccid, mapOf(answer[i], 'a reading')] as const);
  });
  if (readings === null) return null;
  for (const [, { error, reason }] of readings)
    if (error === 'throttled' || error === 'auth') throw moduleError(module.name, error, reason);
  const byIccid = new Map(readings);
  const isBatch = profile.interfaces[name]?.batch !== null;
  return (iccid) => {
    const { error, reason, value = null, iccid: own } = byIccid.get(iccid) ?? {};
    if (error !== undefined) throw moduleError(module.name, error, reason);
    // A vendor's list may lack a card or have another order: matching by position could return a neighbour's reading.
    if (own === undefined && isBatch) throw unnamed(module.name);
    if (own !== undefined) isAmong([iccidDigits(own) ?? String(own)], iccid);
    return ask(profile, module.name, 'read', 'malformed', () => checkedValue(kind, value));
  };
}

function moduleError(module: string, error: unknown, reason: unknown): GatewayError {
  const failure = typeof error === 'string' && Object.hasOwn(FAILURES, error) ? FAILURES[error] : undefined;
  if (failure === undefined)
    return new GatewayError('malformed', `module ${module}: read answered an error that does not exist`);
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  return new GatewayError(failure, `${error}${why}`, { isUnknownCard: failure === 'card' });
}

function unnamed(module: string): GatewayError {
  return new GatewayError('malformed', `module ${module}: read left out the iccid of a reading of a batch`);
}

/** Calls a function of the module. Errors never show the key, wherever the module puts it; the client masks a proxy's quotes. */
function ask<T>(
  profile: GatewayConfig,
  module: string,
  what: 'sign' | 'read',
  failure: GatewayFailure,
  run: () => T,
): T {
  try {
    return run();
  } catch (error) {
    const reason = maskFor(profile, null, NO_PROXIES)(reasonOf(error));
    throw new GatewayError(failure, `module ${module}: ${what} failed: ${reason}`);
  }
}

/** A module may throw anything, even a value without a text form. */
function reasonOf(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return 'an error without words';
  }
}

function atOnce(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('then' in answer)) return answer;
  // A rejected promise must not end the process, even though it is refused here.
  Promise.resolve(answer).catch(() => {});
  throw new Error('it returned a promise, and has to answer at once');
}

function mapOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new Error(`${what} is not an object`);
}

function texts(value: unknown, what: string): Array<[string, string]> {
  const entries = Object.entries(value === undefined ? {} : mapOf(value, what));
  const wrong = entries.find(([, text]) => typeof text !== 'string');
  if (wrong === undefined) return entries as Array<[string, string]>;
  throw new Error(`${JSON.stringify(wrong[0])} in ${what} is ${wrong[1] === null ? 'null, ' : ''}not a text`);
}
