// One attempt to deliver a webhook's message: a POST on a connection of its own to an address that the guard permits, with a
// deadline, and its result in words. Used by webhook-sender.ts, which decides about retries, and by the operations, which test the
// webhook of a rule with an attempt. It follows no redirect, reads the status and the beginning of the answer, and ends with its
// signal whatever the receiver does. It uses Node's own client: undici would keep connections open, and the guard would not check
// a kept connection again.
import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AlertRule } from '../../domain/alerts/alert-rule.ts';
import type { Fleet } from '../../domain/fleet.ts';
import { parseRetryAfter } from '../../gateway/request/retry-after.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { ProxyError } from '../../platform/proxy/proxy-tunnel.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import { oneLine, pageIn } from './answer-fault.ts';
import { refusalIn } from './robot-message.ts';
import { connectionTo } from './webhook-connection.ts';
import { type MessageMeans, type WebhookMessage, webhookMessage } from './webhook-message.ts';

/** For name look-up, connection, request and answer together. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_HEAD_BYTES = 16 * 1024;
/** Some answer with the message, as JSON that has to be whole. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** What an answer with a status is read for; a receiver that never ends its answer has answered. */
const ANSWER_WITHIN_MS = 1_000;
const MAX_WORDS = 200;
const GONE = 410;
/** A receiver may ask for a pause (Retry-After), up to the longest one between two attempts. */
const LONGEST_PAUSE_MS = 12 * 3_600_000;
/** The receiver is busy, and may say for how long. */
const BUSY = [429, 503];

interface AttemptResult {
  /** HTTP status of the answer; null without an answer. */
  readonly status: number | null;
  /** Why the webhook was not delivered; null when the receiver took it. */
  readonly error: string | null;
  /** True when a retry would fail in the same way. */
  readonly lasting: boolean;
  /** The receiver asks for no attempt before that, milliseconds; 0: it does not. */
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
  const unanswered = { status: null, lasting: false, retryAfterMs: 0 };
  try {
    const answer = await callWebhook(message, guard, AbortSignal.any([stopped, deadline]));
    const retryAfterMs = BUSY.includes(answer.status)
      ? (parseRetryAfter(answer.headers, clock.now(), LONGEST_PAUSE_MS) ?? 0)
      : 0;
    return { status: answer.status, retryAfterMs, ...verdictOn(message, answer) };
  } catch (error) {
    if (stopped.aborted) return { ...unanswered, error: 'cardpoll was stopped' };
    // The guard does not permit this address, now or later.
    if (error instanceof CardpollError) return { ...unanswered, error: error.message, lasting: true };
    const isLate = deadline.aborted && !(error instanceof ProxyError);
    const reason = isLate ? `no answer within ${CALL_TIMEOUT_MS} ms` : messageOf(error);
    return { ...unanswered, error: reason };
  }
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The secrets are masked before any part of the answer is cut out, so that no part of one is left. */
function verdictOn({ format, url, body }: WebhookMessage, { status, location, ...answer }: Answer) {
  const text = withoutSecrets(answer.text, url);
  if (isSuccess(status)) {
    const refusal = refusalIn(format, text, new URL(url).hostname, body);
    if (refusal === null) return { error: null, lasting: false };
    return { ...refusal, error: `answered ${status}: ${refusal.error}` };
  }
  if (status === GONE) return { error: 'answered 410: the receiver is gone', lasting: true };
  if (location !== null)
    return { error: `answered ${status}: the redirect to ${location} is not followed`, lasting: false };
  const isRefused = format === 'slack' && status >= 400 && status < 500 && !BUSY.includes(status);
  const said = pageIn(text) ?? oneLine(text).slice(0, MAX_WORDS);
  return { error: `answered ${status}${said === '' ? '' : `: ${said}`}`, lasting: isRefused };
}

/** A receiver may repeat what the path and the query of the URL say: often a token. */
function withoutSecrets(text: string, url: string): string {
  const { pathname, searchParams } = new URL(url);
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length > 7);
  return parts.reduce((shown, part) => shown.replaceAll(part, '***'), text);
}

interface Answer {
  readonly status: number;
  /** Its beginning; empty where it did not come in time. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  /** Where a redirect leads to, without its path; null: the answer is none. */
  readonly location: string | null;
}

/**
 * @throws CardpollError `invalid` for a URL or address that must not be called; AbortError; ProxyError; the socket's error.
 */
export async function callWebhook(
  { url, body, headers }: WebhookMessage,
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
      method: 'POST',
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
    // Every other end of the connection before an answer.
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

/** Reads an answer up to its end, its first bytes, or a second; and ends its connection. */
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
    private readonly deps: Omit<MessageMeans, 'fleet'> & {
      readonly fleet: () => Promise<Fleet>;
      readonly guard: SsrfGuard;
      readonly clock: Clock;
    },
  ) {}

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
          ...{ firedAtMs, cause: null, resolvedAtMs: null, resolution: null, resolvedValue: null },
        },
      },
      { url, format: rule.webhookFormat, secrets: rule.webhookSecrets },
      { ...this.deps, fleet },
      firedAtMs,
    );
    const startedMs = clock.monotonic();
    const { status, error } = await attemptWebhook(message, guard, new AbortController().signal, clock);
    const durationMs = Math.round(clock.monotonic() - startedMs);
    return { delivered: error === null, status, error, durationMs };
  }
}
