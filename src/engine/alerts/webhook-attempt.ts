// One attempt to deliver a webhook's message: one request on its own connection to an address that the guard permits, with a
// deadline, and its result in words. Used by webhook-sender.ts, which decides about retries, and by the operations, which test
// the webhook of a rule. It follows no redirect, reads the status and the beginning of the answer, and ends with its signal
// whatever the receiver does. It uses Node's own client: undici would keep connections open, and the guard would not check a kept
// connection again.
import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AlertRule } from '../../domain/alerts/alert-rule.ts';
import { receiverOf } from '../../domain/alerts/webhook.ts';
import type { Fleet } from '../../domain/fleet.ts';
import { parseRetryAfter } from '../../gateway/request/retry-after.ts';
import { quoted } from '../../gateway/request/template.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { ProxyError } from '../../platform/proxy/proxy-tunnel.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import { oneLine, pageIn } from './answer-fault.ts';
import { verdictOn } from './receiver-message.ts';
import { connectionTo } from './webhook-connection.ts';
import { type MessageDeps, type WebhookMessage, webhookMessage } from './webhook-message.ts';

/** Limit for name look-up, connection, request and answer together. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_HEAD_BYTES = 16 * 1024;
/** Some receivers repeat the message in their answer, as JSON that must be read whole. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Longest time to read the body of an answer after its status. A receiver that never ends its answer has still answered. */
const ANSWER_WITHIN_MS = 1_000;
const MAX_WORDS = 200;
const GONE = 410;
/** Upper bound of the pause that a receiver may request (Retry-After): the longest pause between two attempts. */
const LONGEST_PAUSE_MS = 12 * 3_600_000;
/** Statuses of a busy receiver, which may name a pause. */
const BUSY = [429, 503];

/** Other 4xx answers are permanent; these depend on the time of the request. */
const TRIED_AGAIN = [408, 425, ...BUSY];
const SHOWN_CHARS = 1_000;

interface AttemptResult {
  /** HTTP status of the answer; null without an answer. */
  readonly status: number | null;
  /** Why the webhook was not delivered; null when the receiver took it. */
  readonly error: string | null;
  /** Why it counts as delivered; null: not delivered. */
  readonly taken: string | null;
  /** The beginning of the answer, without secrets; null without an answer. */
  readonly answer: string | null;
  /** True when a retry would fail in the same way. */
  readonly lasting: boolean;
  /** Pause that the receiver asks for, milliseconds; 0: none. */
  readonly retryAfterMs: number;
}

/** @param stopped aborts the attempt. */
export async function attemptWebhook(
  message: WebhookMessage,
  guard: SsrfGuard,
  stopped: AbortSignal,
  clock: Pick<Clock, 'now'>,
): Promise<AttemptResult> {
  const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const unanswered = { status: null, lasting: false, retryAfterMs: 0, taken: null, answer: null };
  if (message.problem !== null) return { ...unanswered, error: message.problem };
  try {
    const answer = await callWebhook(message, guard, AbortSignal.any([stopped, deadline]));
    const retryAfterMs = BUSY.includes(answer.status)
      ? (parseRetryAfter(answer.headers, clock.now(), LONGEST_PAUSE_MS) ?? 0)
      : 0;
    const text = masked(answer.text, message);
    const shown = oneLine(text).slice(0, MAX_WORDS);
    return { status: answer.status, retryAfterMs, answer: shown, ...judged(message, answer, text) };
  } catch (error) {
    if (stopped.aborted) return { ...unanswered, error: 'cardpoll was stopped' };
    // The guard does not permit this address, and will not later.
    if (error instanceof CardpollError)
      return { ...unanswered, error: masked(error.message, message), lasting: true };
    const isLate = deadline.aborted && !(error instanceof ProxyError);
    const reason = isLate ? `no answer within ${CALL_TIMEOUT_MS} ms` : masked(messageOf(error), message);
    return { ...unanswered, error: reason };
  }
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Secrets are masked before the answer is cut, so that a cut cannot leave a part of a secret visible. */
function judged({ accept, url, body }: WebhookMessage, { status, location }: Answer, text: string) {
  if (isSuccess(status)) {
    const verdict = verdictOn(accept, status, text, new URL(url).hostname, body);
    if ('taken' in verdict) return { error: null, lasting: false, taken: verdict.taken };
    return { ...verdict, error: `answered ${status}: ${verdict.error}`, taken: null };
  }
  if (status === GONE) return { error: 'answered 410: the receiver is gone', lasting: true, taken: null };
  if (location !== null) {
    const error = `answered ${status}: the redirect to ${location} is not followed`;
    return { error, lasting: false, taken: null };
  }
  const isRefused = status >= 400 && status < 500 && !TRIED_AGAIN.includes(status);
  const said = pageIn(text) ?? oneLine(text).slice(0, MAX_WORDS);
  // For a chat robot the body says what is refused permanently.
  const lasting = accept !== null && accept.busy === null && isRefused;
  return { error: `answered ${status}${said === '' ? '' : `: ${said}`}`, lasting, taken: null };
}

/** A receiver may repeat secrets, and the path and query of the URL, which often contain a token. */
function masked(text: string, { url, secrets }: WebhookMessage): string {
  const { pathname, searchParams } = URL.canParse(url) ? new URL(url) : new URL('http://none');
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length > 7);
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret), quoted(secret)]);
  return [...forms, ...parts].reduce((shown, part) => shown.replaceAll(part, '***'), text);
}

/** The request as people may see it: without path and secrets. */
function shownRequest(message: WebhookMessage): string {
  const { method, url, body } = message;
  return `${method} ${receiverOf(url) ?? ''}/… ${masked(body, message).slice(0, SHOWN_CHARS)}`.trim();
}

interface Answer {
  readonly status: number;
  /** The beginning of the body; empty if it did not arrive in time. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  /** Target of a redirect, without its path; null: no redirect. */
  readonly location: string | null;
}

/**
 * @throws CardpollError `invalid` for a URL or address that must not be called; AbortError; ProxyError; the socket's error.
 */
export async function callWebhook(
  { method, url, body, headers }: Pick<WebhookMessage, 'method' | 'url' | 'body' | 'headers'>,
  guard: SsrfGuard,
  signal: AbortSignal,
): Promise<Answer> {
  const refusal = guard.refusalOf(url);
  if (refusal !== null) throw new CardpollError('invalid', 'address_forbidden', refusal);
  const target = new URL(url);
  const connection = await connectionTo(target, guard, signal);
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = request(target, {
      method,
      headers,
      ...connection,
      maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
      signal,
    });
    call.on('error', reject);
    let answered = false;
    call.on('response', (answer) => {
      answered = true;
      void readBeginning(answer).then((text) => resolve({ ...headOf(answer), text }));
    });
    // Status 101 switches protocols. Without this listener the connection is closed without an answer or an error.
    call.on('upgrade', (answer, socket) => {
      resolve({ ...headOf(answer), text: '' });
      socket.destroy();
    });
    // The connection closed in another way before an answer.
    call.on('close', () => {
      if (!answered) reject(new Error('the connection was closed without an answer'));
    });
    call.end(body);
  });
}

function headOf({ statusCode = 0, headers }: IncomingMessage) {
  return {
    status: statusCode,
    headers,
    location: redirectIn(statusCode, headers.location),
  };
}

function redirectIn(status: number, location: string | undefined): string | null {
  if (status < 300 || status >= 400 || location === undefined) return null;
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

/** Reads an answer up to its end, a number of bytes, or one second, and then closes its connection. */
function readBeginning(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const end = () => {
      clearTimeout(timer);
      answer.destroy();
      resolve(bytes.toString());
    };
    const timer = setTimeout(end, ANSWER_WITHIN_MS);
    answer.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]).subarray(0, MAX_ANSWER_BYTES);
      if (bytes.length === MAX_ANSWER_BYTES) end();
    });
    answer.on('end', end);
    answer.on('error', end);
  });
}

/** Sends the webhook of a rule once, now. Writes neither to the outbox nor to the history. */
export class WebhookTester {
  constructor(
    private readonly deps: Omit<MessageDeps, 'fleet'> & {
      readonly fleet: () => Promise<Fleet>;
      readonly guard: SsrfGuard;
      readonly clock: Clock;
    },
  ) {}

  get receivers() {
    return this.deps.receivers;
  }

  /** Sends the message of an alert at the rule's threshold. Takes up to ten seconds, like any attempt. */
  async test(rule: AlertRule, url: string) {
    const { guard, clock } = this.deps;
    const { id: ruleId, name: ruleName, ruleType, taskType, comparison, threshold } = rule;
    const firedAtMs = clock.now();
    const fleet = await this.deps.fleet();
    const message = webhookMessage(
      {
        event: 'alert.test',
        messageId: randomUUID(),
        group: null,
        alert: {
          ...{ id: 0, ruleId, ruleName, ruleType, taskType, comparison, threshold, value: threshold },
          ...{ firedAtMs, cause: null, causeSinceMs: null, earlierCauses: [] },
          ...{ resolvedAtMs: null, resolution: null, resolvedValue: null },
        },
      },
      { url, format: rule.webhookFormat, secrets: rule.webhookSecrets },
      { ...this.deps, fleet },
      firedAtMs,
    );
    const startedMs = clock.monotonic();
    const attempt = await attemptWebhook(message, guard, new AbortController().signal, clock);
    const { status, error, taken, answer } = attempt;
    const durationMs = Math.round(clock.monotonic() - startedMs);
    return {
      delivered: error === null,
      status,
      error,
      taken,
      sent: shownRequest(message),
      answer,
      durationMs,
    };
  }
}
