// Reads the gateway's answer: HTTP status, envelope and field become a value or a GatewayError. Used by the client.
// Pure: no I/O, no clock; the client decides deadlines and logs.
import { type AnswerKind, INTERFACES, type InterfaceName } from '../domain/gateway-interface.ts';
import { GatewayError } from './gateway.ts';

/** The envelope's `code` that means success. */
const SUCCESS_CODE = 200;
const MAX_REASON_CHARS = 200;
const MAX_STATUS_CHARS = 64;
/** A million terabytes: a larger reading is garbage, and it would spoil the month's usage permanently. */
const MAX_USED_MB = 1e12;
const DECIMAL = /^\d{1,13}(\.\d{1,9})?$/;

/** Makes text from outside safe for a log line and a terminal: no control characters, at most 200 characters. */
function cleanText(text: string): string {
  const cleaned = text
    .slice(0, 4 * MAX_REASON_CHARS)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  return cleaned.length > MAX_REASON_CHARS ? `${cleaned.slice(0, MAX_REASON_CHARS - 1)}…` : cleaned;
}

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

interface Envelope {
  readonly code?: unknown;
  readonly msg?: unknown;
  readonly data?: unknown;
}

function parseEnvelope(body: string): Envelope {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new GatewayError('malformed', body === '' ? 'the body is empty' : 'the body is not JSON', {
      cause,
    });
  }
  if (typeof parsed !== 'object' || parsed === null) {
    throw new GatewayError('malformed', 'the body is not a JSON object');
  }
  return parsed;
}

/** Some gateways send decimals as strings; "12.5" is read as 12.5. Signs, exponents and blanks are not. */
function usedMb(raw: unknown): number | null {
  const value = typeof raw === 'string' && DECIMAL.test(raw) ? Number(raw) : raw;
  return typeof value === 'number' && value >= 0 && value <= MAX_USED_MB ? value : null;
}

function cardStatus(raw: unknown): string | null {
  return typeof raw === 'string' && raw.trim() !== '' && raw.length <= MAX_STATUS_CHARS ? raw : null;
}

type AnswerValue = boolean | number | string;

function checkField(kind: AnswerKind, raw: unknown): { value: AnswerValue | null; expected: string } {
  switch (kind) {
    case 'verified':
      return { value: typeof raw === 'boolean' ? raw : null, expected: 'a boolean' };
    case 'megabytes':
      return { value: usedMb(raw), expected: 'a number of MB, 0 or more' };
    case 'status':
      return { value: cardStatus(raw), expected: `a string of 1 to ${MAX_STATUS_CHARS} characters` };
  }
}

/**
 * Reads the body of a 2xx answer.
 * @param field the field of `data` to read; null reads nothing and returns null.
 * @throws GatewayError `malformed`, or `business` when `code` is not 200.
 */
export function readAnswer(
  interfaceName: InterfaceName,
  field: string | null,
  body: string,
): AnswerValue | null {
  const envelope = parseEnvelope(body);
  if (typeof envelope.code !== 'number') throw new GatewayError('malformed', 'code is not a number');
  if (envelope.code !== SUCCESS_CODE) {
    const message = typeof envelope.msg === 'string' ? cleanText(envelope.msg) : '';
    throw new GatewayError(
      'business',
      message === '' ? `code ${envelope.code}` : `code ${envelope.code}: ${message}`,
    );
  }
  const { answer } = INTERFACES[interfaceName];
  if (field === null || answer === null) return null;
  const data = envelope.data;
  const raw =
    typeof data === 'object' && data !== null && Object.hasOwn(data, field)
      ? (data as Record<string, unknown>)[field]
      : undefined;
  const { value, expected } = checkField(answer.kind, raw);
  if (value === null) {
    throw new GatewayError(
      'malformed',
      `data.${field} is ${raw === undefined ? 'missing' : 'not'} ${expected}`,
    );
  }
  return value;
}
