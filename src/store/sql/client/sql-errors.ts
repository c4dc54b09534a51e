// Turns a driver's errors into CardpollErrors; both drivers call it at their edge. The original error, with its SQLSTATE, stays
// available as `cause` for the few callers that retry on one.
import { CardpollError, messageOf, tlsFaultOf } from '../../../platform/errors.ts';
import { type DatabaseUser, grantFor, isMissingRight } from './missing-right.ts';

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // a unix socket that is not there
]);

// pg reports a lost connection without a code.
const CONNECTION_MESSAGE =
  /connection terminated|connection error|timeout exceeded|query read timeout|not queryable/i;

/** pg reports it without a code. */
const NO_TLS = /server does not support SSL/i;

const IDLE_IN_TRANSACTION_TIMEOUT = '25P03';
/** Class 57P: the server shuts down, starts up or ends the session. */
const OPERATOR_INTERVENTION = '57P';
const READ_ONLY = '25006';
export const DEADLOCK = '40P01';
export const SERIALIZATION_FAILURE = '40001';
export const UNIQUE_VIOLATION = '23505';
/** Two cards with one vendor id. */
export const EXCLUSION_VIOLATION = '23P01';
const OVERLOADED_STATES = new Set(['57014', '55P03', DEADLOCK, SERIALIZATION_FAILURE]);
const SCHEMA_STATES = new Set(['42P01', '42703', '42883']);
const ACCESS_STATES = new Set(['28P01', '28000', '3D000']);
/** An unexpected or missing prepared statement: it belongs to another connection. */
const POOLING_STATES = new Set(['42P05', '26000']);

const RAISED_BY_TRIGGER = 'P0001';

const CONFLICT_ATTEMPTS = 4;

/** SQLSTATE (or the system's error code) behind a driver's error; '' when there is none. */
export function sqlStateOf(error: unknown): string {
  const origin = error instanceof CardpollError ? error.cause : error;
  if (origin instanceof AggregateError) return sqlStateOf(origin.errors[0]);
  const code = (origin as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/**
 * Repeats a short transaction that lost against a concurrent one, with one of these states. Its statement must be safe to repeat
 * as a whole. No wait is needed, since the winner has finished when the loser gets its error.
 */
export async function retryConflicts<T>(states: readonly string[], run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === CONFLICT_ATTEMPTS || !states.includes(sqlStateOf(error))) throw error;
    }
  }
}

/** The server takes no writes. */
function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === READ_ONLY;
}

/** After this error the connection may lead to a server that shuts down, or is no longer the primary. */
export function endsConnection(error: unknown): boolean {
  return isReadOnly(error) || sqlStateOf(error).startsWith(OPERATOR_INTERVENTION);
}

/** @param where as for translateSqlError */
export function readOnlyError(where: string, cause?: unknown): CardpollError {
  return new CardpollError(
    'unavailable',
    'postgres_read_only',
    `${where} takes no writes: it is a standby, or set to read only`,
    {
      hint: 'Point database_url to the primary, or promote this server; cardpoll doctor shows how.',
      cause,
    },
  );
}

/**
 * @param where names the database for a person, without credentials: `PostgreSQL at db1:5432`.
 * @param user the connected user; null: unknown.
 */
export function translateSqlError(
  error: unknown,
  where: string,
  user: DatabaseUser | null = null,
): CardpollError {
  if (error instanceof CardpollError) return error;
  const state = sqlStateOf(error);
  const message = messageOf(error);
  const details = (hint: string) => ({ cause: error, hint });
  if (isReadOnly(error)) return readOnlyError(where, error);
  const fault = tlsFaultOf({ code: state }) ?? (NO_TLS.test(message) ? 'it speaks no TLS' : null);
  if (fault !== null) {
    return new CardpollError(
      'config',
      'postgres_tls',
      `${where} cannot be reached over TLS: ${fault} (${message})`,
      details('check sslmode, sslrootcert, sslcert and sslkey in the database URL, and its host name'),
    );
  }
  if (isUnreachable(state, message)) {
    return new CardpollError(
      'unavailable',
      'postgres_unreachable',
      `${where} cannot be reached: ${message}`,
      details('Check that the server runs and accepts connections from this machine.'),
    );
  }
  if (state.startsWith('53') || state === '58030' || state === 'ENOSPC') {
    return new CardpollError(
      'unavailable',
      'postgres_out_of_resources',
      `${where} is out of resources: ${message}`,
      details('Check disk space, memory and max_connections of the server.'),
    );
  }
  if (OVERLOADED_STATES.has(state)) {
    return new CardpollError(
      'unavailable',
      'postgres_timeout',
      `${where} did not finish in time: ${message}`,
      details('Look for long transactions and locks in pg_stat_activity.'),
    );
  }
  return translateLasting(error, state, message, { where, user });
}

function isUnreachable(state: string, message: string): boolean {
  if (state === '') return CONNECTION_MESSAGE.test(message);
  return (
    NETWORK_CODES.has(state) ||
    state === IDLE_IN_TRANSACTION_TIMEOUT ||
    state.startsWith(OPERATOR_INTERVENTION) ||
    state.startsWith('08')
  );
}

/** Errors that waiting does not fix. */
function translateLasting(
  error: unknown,
  state: string,
  message: string,
  { where, user }: { readonly where: string; readonly user: DatabaseUser | null },
): CardpollError {
  const details = (hint: string) => ({ cause: error, hint });
  if (SCHEMA_STATES.has(state)) {
    return new CardpollError(
      'config',
      'not_migrated',
      `the schema in ${where} is missing or too old: ${message}`,
      details('Run: cardpoll migrate up'),
    );
  }
  if (isMissingRight(state, message)) {
    return new CardpollError(
      'config',
      'postgres_rights_missing',
      `${where} refuses a statement: ${message}`,
      details(grantFor(message, user)),
    );
  }
  if (ACCESS_STATES.has(state)) {
    return new CardpollError(
      'config',
      'postgres_access_refused',
      `${where} refuses access: ${message}`,
      details('Check user, password and database name in the database URL.'),
    );
  }
  if (POOLING_STATES.has(state)) return transactionPooling(where, error);
  if (state.startsWith('23') || state.startsWith('22') || state === RAISED_BY_TRIGGER) {
    return new CardpollError('invalid', 'value_refused', `${where} refuses a value: ${message}`, {
      cause: error,
    });
  }
  return new CardpollError('internal', 'postgres_error', `${where}: ${message}`, { cause: error });
}

/** The error of a setup that cannot work, although it sometimes seems to. */
export function transactionPooling(where: string, cause?: unknown): CardpollError {
  const hint =
    'Let the pooler lend a connection for the whole session (PgBouncer: pool_mode = session), or use none.';
  return new CardpollError(
    'config',
    'transaction_pooling',
    `${where} has connections that a pooler shares between transactions`,
    { hint, cause },
  );
}
