// What the HTTP status of a gateway's answer means when it is no 2xx, and how long Retry-After asks to wait. Used by the
// client. Pure.
import type { ErrorSaid } from './answer.ts';
import { GatewayError } from './gateway.ts';

/** The headers that say when to call again. */
export interface RetryAfter {
  /** The Retry-After header. */
  readonly value: string | null;
  /** The Date header: the gateway's clock, which a date in Retry-After refers to. */
  readonly date: string | null;
}

/**
 * The pause of a Retry-After header (RFC 9110, 10.2.3: seconds or an HTTP date), in milliseconds, at most `maxMs`. Null
 * when the header is absent or unreadable, or asks for no pause (zero, negative, a date in the past).
 */
function parseRetryAfter({ value, date }: RetryAfter, nowMs: number, maxMs: number): number | null {
  const text = value?.trim() ?? '';
  const askedMs = /^\d{1,20}$/.test(text)
    ? Number(text) * 1000
    : httpDate(text) - (Number.isNaN(httpDate(date ?? '')) ? nowMs : httpDate(date ?? ''));
  return askedMs > 0 ? Math.min(maxMs, askedMs) : null;
}

/** Date.parse also reads "5.5" and the like; an HTTP date begins with the name of a day. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
}

/**
 * The error of an HTTP status outside 2xx.
 * 401 and 403 mean wrong credentials, so every card would fail: the gateway's fault, not the card's. So are 408 and
 * redirects, which are never followed. 404 is the card's fault: the gateway does not know the card.
 */
export function statusError(
  status: number,
  retryAfter: RetryAfter,
  nowMs: number,
  maxRetryAfterMs: number,
): GatewayError {
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(retryAfter, nowMs, maxRetryAfterMs);
    return new GatewayError('backpressure', `HTTP ${status}`, retryAfterMs === null ? {} : { retryAfterMs });
  }
  if (status === 401 || status === 403) {
    return new GatewayError('auth', `HTTP ${status}: the gateway does not accept our credentials`);
  }
  if (status >= 300 && status < 400)
    return new GatewayError('http', `HTTP ${status}: redirects are not followed`);
  const cardProblem = status >= 400 && status < 500 && status !== 408;
  return new GatewayError(cardProblem ? 'card' : 'http', `HTTP ${status}`);
}

/** @param said by the body; a code that the profile lists says more than the status. null: nothing. */
export function withCode(byStatus: GatewayError, said: ErrorSaid | null): GatewayError {
  if (said === null) return byStatus;
  const failure = said.failure ?? byStatus.failure;
  return new GatewayError(failure, `${byStatus.message}: ${said.reason}`, byStatus.details);
}
