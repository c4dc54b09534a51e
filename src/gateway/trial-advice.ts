// What to change when a call of a trial did not fit the profile. Used by trial.ts. Pure.
import { parseValuePath } from '../domain/gateway/value-path.ts';
import type { InterfaceName } from '../domain/gateway-interface.ts';
import type { CallTrace } from './client.ts';
import type { GatewayError } from './gateway.ts';

const MAX_PLACES = 12;
const MAX_DEPTH = 6;
const EMPTY = ' (an empty list)';
const UNNAMED = ' (only a module can read what is in it)';

export function adviceFor(
  name: InterfaceName,
  { failure, message }: Pick<GatewayError, 'failure' | 'message'>,
  trace: CallTrace | null,
): string {
  const where = `gateway.interfaces.${name}`;
  if (message.startsWith('module '))
    return 'correct the module of gateway.module; it is loaded anew for every trial';
  switch (failure) {
    case 'connect':
      return message.startsWith('no token')
        ? 'check gateway.auth.token_url, and whether the token server can be reached from here'
        : 'check gateway.url: nothing answers there, or no connection to it is allowed from here';
    case 'auth':
      return 'check gateway.auth and the credentials; if the code means something else, name it in gateway.errors';
    case 'timeout':
      return `the gateway is slow or hangs: try again, or raise ${where}.timeout_ms`;
    case 'network':
      return 'the connection broke: check gateway.url (http or https), and try again';
    case 'backpressure':
      return 'the gateway refuses calls for now: wait, and set gateway.rate_limits to what it allows';
    case 'card':
      return trace?.status === 404
        ? `the gateway does not know this card, or ${where}.path is wrong`
        : `the gateway refuses this request: compare ${where} with what it asks for`;
    case 'business':
      return 'if this code means success, add it to gateway.success.values; if it means throttling or an unknown card, name it in gateway.errors';
    case 'not_offered':
      return `the profile does not offer it: give ${where}.path`;
    case 'http':
      return 'the gateway failed; if the path is wrong, some gateways answer so, too';
    case 'held':
    case 'aborted':
      return 'the call was not made: try again';
    case 'malformed':
      return placesAdvice(where, trace?.body ?? '');
  }
}

function placesAdvice(where: string, body: string): string {
  const places = placesIn(body);
  if (places === null)
    return `the answer is not JSON: compare ${where}.path and its headers with what the gateway offers`;
  const all = places.slice(0, MAX_PLACES).join(', ');
  if (places.length === 0) return 'the answer has no values';
  const ifEmpty = all.includes(EMPTY)
    ? '; if the list is empty because the gateway does not know the card, say so in gateway.errors (docs/gateways.md, step 4)'
    : '';
  return `name the place and the unit of the value under ${where}; the answer has ${all}${places.length > MAX_PLACES ? ', ...' : ''}${ifEmpty}`;
}

/** The places of all values of an answer, as a profile names them; of names that it cannot write, where they are. null: not JSON. */
function placesIn(body: string): string[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return null;
  }
  const places: string[] = [];
  const visit = (value: unknown, path: string, depth: number): void => {
    if (places.length > MAX_PLACES || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      if (value.length > 0) visit(value[0], `${path}[0]`, depth + 1);
      else places.push(`${path}${EMPTY}`);
    } else if (typeof value === 'object' && value !== null) {
      const parts = Object.entries(value);
      for (const [key, part] of parts)
        if (isName(key)) visit(part, path === '' ? key : `${path}.${key}`, depth + 1);
      if (!parts.every(([key]) => isName(key))) places.push(`${path || 'the answer'}${UNNAMED}`);
    } else if (path !== '') {
      places.push(path);
    }
  };
  visit(parsed, '', 0);
  return places;
}

/** A name with a dot, a blank or a bracket cannot be written in a path. */
function isName(key: string): boolean {
  const path = parseValuePath(key);
  return path?.length === 1 && path[0] === key;
}
