// The one error class of cardpoll, and Node's errors in words. `kind` decides the exit code (platform/exit-codes.ts) and the HTTP
// status (api/problem.ts); only those two files map it.

export type ErrorKind =
  | 'usage' // the command line is wrong
  | 'invalid' // well-formed input with a value out of bounds
  | 'bad_data' // an input file or body cannot be parsed
  | 'input_missing' // a given file or directory does not exist
  | 'not_found' // no such card, config, trigger ...
  | 'conflict' // not possible in the present state
  | 'unavailable' // a store, the gateway or the daemon does not answer
  | 'busy' // a lock is held; retry later
  | 'auth' // credentials missing, wrong or insufficient
  | 'io' // a file cannot be written or read back
  | 'config' // the configuration cannot work
  | 'internal'; // a bug

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

interface ErrorDetails {
  /** What to do or type next. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** One entry per wrong field; for `invalid` and `config`. */
  readonly fields?: readonly FieldProblem[];
}

export class CardpollError extends Error {
  override readonly name = 'CardpollError';
  readonly hint: string | undefined;
  readonly fields: readonly FieldProblem[];

  /** @param code stable snake_case identifier, e.g. `store_unreachable`; part of the HTTP contract. */
  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.hint = details.hint;
    this.fields = details.fields ?? [];
  }
}

/** @returns null when the answer is the error `unavailable`; throws any other error. */
export async function nullIfUnavailable<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CardpollError && error.kind === 'unavailable') return null;
    throw error;
  }
}

/** Why a file is unreadable, in words, with its path. */
export function unreadableText(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `no such file: ${path}`;
  if (code === 'EISDIR') return `${path} is a directory, not a file`;
  if (code === 'EACCES') return `no permission to read ${path}`;
  const message = messageOf(error);
  return message.includes(path) ? message : `cannot read ${path}: ${message}`;
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Node's error codes for certificates that it does not trust. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

const OUT_OF_DATE = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/** The server ended the connection: it requires a client certificate, or another one. */
const CLIENT_REFUSED = /^ERR_SSL_\w*ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/;

export function isUntrusted(code: string): boolean {
  return UNTRUSTED.has(code);
}

/** Explains why a TLS connection failed. @returns null when the error is not about TLS. */
export function tlsFaultOf(error: unknown): string | null {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return null;
  if (UNTRUSTED.has(code)) return 'its certificate is of no authority that is trusted here';
  if (OUT_OF_DATE.has(code)) return 'its certificate is out of date';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for other names than it is reached by';
  return CLIENT_REFUSED.test(code)
    ? 'it asks for a client certificate and was shown none that it takes'
    : null;
}
