// A session that is over. Where calls have a token that was issued, a gateway may answer a call without a session by a redirect to
// its page to sign in, or by that page itself, instead of 401. Used by the client. Pure.
import { GatewayError } from '../gateway.ts';
import { isPage, kindOfBody } from './body-kind.ts';
import { type Exchange, redirectWords } from './exchange.ts';

type Answer = Pick<Exchange, 'status' | 'headers' | 'body'>;

/** The call that was answered. */
interface Asked {
  /** Of the gateway. */
  readonly url: string;
  /** As sent, with the query. */
  readonly path: string;
  /** Its body may be anything: a page too, once the token is known to be good. */
  readonly isEffect: boolean;
  /** A module reads the body, whatever it is. */
  readonly isRead: boolean;
}

/** Ends the reason of a call that a new token did not help. */
export const ALSO_WHEN_NEW = 'and so it is with a new token';

/**
 * @param renew asks for a new token, if that may help. @returns the error of a call whose answer is about signing in: `auth` while a
 * new token may help, then what the answer is. null: the answer is about the call.
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

/** The same place under https:// instead of http:// says nothing about a session. */
function leadsElsewhere({ status, headers: { location = '' } }: Answer, { url, path }: Asked): boolean {
  if (status >= 400 || location === '') return false;
  const from = new URL(path, url);
  if (!URL.canParse(location, from.href)) return true;
  const { hostname, pathname } = new URL(location, from);
  return hostname !== from.hostname || pathname !== from.pathname;
}
