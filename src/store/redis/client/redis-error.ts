// Translates errors of ioredis into CardpollError. Used by client.ts.
import { CardpollError, messageOf } from '../../../platform/errors.ts';

const AUTH = /^(NOAUTH|WRONGPASS)/;
/** The driver's error when all sentinels refused the credentials. */
const SENTINEL_AUTH = /^All sentinels are unreachable.* Last error: ((?:NOAUTH|WRONGPASS|NOPERM).*)$/;
/** A command without the right to run it: sent directly, or called in a script. */
const NOT_PERMITTED = /^NOPERM|^ERR The user \w+ the script can't|ACL failure in script/;
/** Redis could not save to disk and is configured to refuse writes then, and PING too. */
const CANNOT_SAVE = /^MISCONF/;
const REFUSED = /^(OOM|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|UNKILLABLE)/;
const SERVER_REPLY = /^(ERR|WRONGTYPE|NOSCRIPT|MOVED|ASK|CROSSSLOT|EXECABORT)/;

export function isNotPermitted(message: string): boolean {
  return NOT_PERMITTED.test(message);
}

/** @param shownUrl the URL without its password */
export function redisError(error: unknown, shownUrl: string, lastConnectionError: unknown): CardpollError {
  if (error instanceof CardpollError) return error;
  const message = messageOf(error);
  const details = (hint: string) => ({ cause: error, hint });
  if (AUTH.test(message)) {
    return new CardpollError(
      'config',
      'redis_auth',
      `Redis at ${shownUrl} refused the credentials: ${message}`,
      details('check user name and password in the Redis URL'),
    );
  }
  if (isNotPermitted(message)) {
    return new CardpollError(
      'config',
      'redis_not_permitted',
      `Redis at ${shownUrl} does not let this user do what cardpoll does: ${message}`,
      details('docs/security.md says what its user must be allowed; cardpoll doctor says what is missing'),
    );
  }
  if (CANNOT_SAVE.test(message)) {
    return new CardpollError(
      'unavailable',
      'redis_cannot_save',
      `Redis at ${shownUrl} could not write to its disk and refuses work: ${message}`,
      details(
        'free space on the disk of Redis and let it save again (redis-cli BGSAVE); work then continues by itself',
      ),
    );
  }
  if (REFUSED.test(message)) {
    return new CardpollError(
      'unavailable',
      'redis_refused',
      `Redis at ${shownUrl} refuses work: ${message}`,
      details('see the log of the Redis server; work continues by itself once it accepts commands'),
    );
  }
  if (SERVER_REPLY.test(message)) {
    return new CardpollError('internal', 'redis_command_failed', `Redis at ${shownUrl}: ${message}`, {
      cause: error,
    });
  }
  const sentinel = SENTINEL_AUTH.exec(messageOf(lastConnectionError))?.[1];
  if (sentinel !== undefined) {
    return new CardpollError(
      'config',
      'redis_sentinel_auth',
      `the sentinels at ${shownUrl} refused the credentials: ${sentinel}`,
      details(
        'set CARDPOLL_REDIS_SENTINEL_PASSWORD for the sentinels; the Redis URL has the password of the Redis servers',
      ),
    );
  }
  const why = lastConnectionError === null ? message : messageOf(lastConnectionError);
  return new CardpollError(
    'unavailable',
    'redis_unreachable',
    `Redis at ${shownUrl} does not answer: ${why}`,
    details(
      'check that Redis is running there and that the Redis URL is right (redis_url, CARDPOLL_REDIS_URL)',
    ),
  );
}
