// Recognises an expired session. A gateway that issues tokens may answer a call without a session by a redirect to its sign-in
// page, or by that page itself, instead of 401. Used by the client. Pure.
import { GatewayError } from '../gateway.ts';
import { isPage, kindOfBody } from './body-kind.ts';
import { type Exchange, redirectWords } from './exchange.ts';

type Answer = Pick<Exchange, 'status' | 'headers' | 'body'>;

/** The call that was answered. */
interface Asked {
  /** URL of the gateway. */
  readonly url: string;
  /** As sent, with the query. */
  readonly path: string;
  /** The call has an effect and accepts any body, also a page, once the token is known to be valid. */
  readonly isEffect: boolean;
  /** A module reads the body, in any form. */
  readonly isRead: boolean;
}

/** Ends the message of a call that failed with a new token too. */
export const ALSO_WHEN_NEW = 'and so it is with a new token';

/**
 * @param renew requests a new token, if that may help. @returns the error of a call whose answer is about signing in: `auth`
 * while a new token may help, then the kind of the answer. null: the answer is about the call.
 */
export function signedOut(answer: Answer, asked: Asked, renew: () => boolean): GatewayError | null {
  const isGood = answer.status < 300;
  if (isGood ? asked.isRead || !isPage(answer.body) : !leadsElsewhere(answer, asked)) return null;
  const what = isGood ? `the body is ${kindOfBody(answer.body)}` : redirectWords(answer);
  if (renew())
    return new GatewayError('auth', `${what}: the session may be over, so a new token is asked for`);
  if (isGood) return asked.isEffect ? null : new GatewayError('malformed', `${what}, ${ALSO_WHEN_NEW}`);
  return new GatewayError('http', `${what}: redirects are not followed, ${ALSO_WHEN_NEW}`);
}

/** A redirect from http:// to the same place under https:// is no sign of an expired session. */
function leadsElsewhere({ status, headers: { location = '' } }: Answer, { url, path }: Asked): boolean {
  if (status >= 400 || location === '') return false;
  const from = new URL(path, url);
  if (!URL.canParse(location, from.href)) return true;
  const { hostname, pathname } = new URL(location, from);
  return hostname !== from.hostname || pathname !== from.pathname;
}
