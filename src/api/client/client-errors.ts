// Turns unsuccessful answers into CardpollErrors. Used by client.ts; the inverse of problem.ts.
import {
  CardpollError,
  type ErrorKind,
  type FieldProblem,
  isUntrusted,
  messageOf,
} from '../../platform/errors.ts';
import { objectIn } from '../../platform/json.ts';

const KINDS: Record<number, ErrorKind> = {
  400: 'bad_data',
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  409: 'conflict',
  412: 'conflict',
  413: 'invalid',
  415: 'bad_data',
  422: 'invalid',
  429: 'busy',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

const AUTH_HINT = 'give the token with CARDPOLL_TOKEN or --token-file';
/** Code, in every version, for a path that the daemon does not serve. A missing object has its own, such as card_not_found. */
const NO_PATH = 'not_found';
const NO_PATH_HINT = 'the daemon is older than this command, or an instance without the role api';

/** The error of an answer: from its problem body if there is one, otherwise from its status. */
export function errorOfAnswer(
  { url, tokenFrom }: { readonly url: string; readonly tokenFrom: string | null },
  status: number,
  text: string,
): CardpollError {
  const problem = problemIn(text);
  // Another server has no such page; a daemon reports a missing path in a problem.
  if (status < 400 || (status === 404 && problem === null)) return notCardpoll(url);
  // A daemon that works only in part answers 503, but no retry helps.
  const kind = problem?.code === 'postgres_rights_missing' ? 'config' : (KINDS[status] ?? 'internal');
  const message = problem?.message ?? `the daemon at ${url} answered with status ${status}`;
  // With several contexts, the user must know which token was sent.
  const sent = status === 401 && tokenFrom !== null ? [`the token of ${tokenFrom} was sent`] : [];
  const advice = problem?.hint ?? hintOf(kind, problem?.code);
  const hint = advice === undefined ? undefined : [...sent, advice].join('; ');
  return new CardpollError(kind, problem?.code ?? `http_${status}`, message, {
    ...(hint === undefined ? {} : { hint }),
    fields: problem?.fields ?? [],
  });
}

function hintOf(kind: ErrorKind, code: string | undefined): string | undefined {
  if (code === NO_PATH) return NO_PATH_HINT;
  return kind === 'auth' ? AUTH_HINT : undefined;
}

/** A server answers at the URL, but it is not cardpoll. */
export function notCardpoll(url: string, cause?: unknown): CardpollError {
  return new CardpollError('unavailable', 'not_cardpoll', `what answers at ${url} is not cardpoll`, {
    hint: 'another program listens there: give the address of the daemon with --url or CARDPOLL_URL',
    cause,
  });
}

/** The driver's message is a raw line of OpenSSL. */
function noTls(url: string, cause: unknown): CardpollError {
  const hint = 'a daemon without tls_cert is reached at http://, or another program listens there';
  return new CardpollError(
    'unavailable',
    'daemon_without_tls',
    `what answers at ${url} does not speak HTTPS`,
    { hint, cause },
  );
}

function untrusted(url: string, cause: unknown): CardpollError {
  const message = `the certificate of ${url} is not trusted here: ${messageOf(cause)}`;
  const hint = 'name the file of the authority that signed it in NODE_EXTRA_CA_CERTS';
  return new CardpollError('unavailable', 'daemon_untrusted', message, { hint, cause });
}

/** No usable answer came, for the reason that the transport gives. */
export function unreachable(url: string, cause: unknown): CardpollError {
  const { code = '' } = cause as NodeJS.ErrnoException;
  // A server listens, but does not speak HTTP, or not with the TLS that the URL implies.
  if (code === 'EPROTO') return noTls(url, cause);
  if (code.startsWith('HPE_') || code.startsWith('ERR_SSL')) return notCardpoll(url, cause);
  if (isUntrusted(code)) return untrusted(url, cause);
  const hint =
    code === 'ENOTFOUND' || code === 'EAI_AGAIN'
      ? 'the name is not known here: check --url or CARDPOLL_URL'
      : 'start it with `cardpoll daemon`, or say where it listens with --url or CARDPOLL_URL';
  const message = `cannot reach the daemon at ${url}: ${messageOf(cause)}`;
  return new CardpollError('unavailable', 'daemon_unreachable', message, { hint, cause });
}

/** A daemon may be there, but it, one of its stores or the network is slow. */
export function tooSlow(url: string, waitedMs: number, cause: unknown): CardpollError {
  const message = `cannot reach the daemon at ${url}: no answer within ${waitedMs} ms`;
  const hint = `it may be slow: wait longer with --timeout, and look at ${url}/readyz and its logs`;
  return new CardpollError('unavailable', 'daemon_slow', message, { hint, cause });
}

export function endedEarly(url: string, cause: unknown): CardpollError {
  const message = `the answer of ${url} ended early: ${messageOf(cause)}`;
  const hint = 'what was printed is not all there is: run it again; api.log of the daemon may say why';
  return new CardpollError('unavailable', 'answer_ended_early', message, { hint, cause });
}

function problemIn(text: string) {
  const body = objectIn(text);
  if (body === null) return null;
  const { detail, title, code, hint, errors } = body;
  const said = oneLine(detail) ?? oneLine(title);
  if (said === null) return null;
  const fields = Array.isArray(errors) ? errors.filter(isFieldProblem) : [];
  const unsaid = fields
    .filter((one) => !said.includes(one.message))
    .map((one) => `${one.field} ${one.message}`);
  return {
    message: [said, ...unsaid].join('; '),
    code: typeof code === 'string' ? code : 'problem',
    hint: oneLine(hint) ?? undefined,
    fields,
  };
}

function oneLine(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.replace(/\s+/g, ' ') : null;
}

function isFieldProblem(value: unknown): value is FieldProblem {
  const { field, message } = (value ?? {}) as Record<string, unknown>;
  return typeof field === 'string' && typeof message === 'string';
}
