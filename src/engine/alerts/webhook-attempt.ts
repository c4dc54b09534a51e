// One attempt to deliver a webhook: a POST on a connection of its own to an address that the guard permits, with a
// deadline, and its result in words. Used by webhook-sender.ts, which decides about retries, and webhook-tester.ts. It
// follows no redirect, reads only the status of the answer, and ends with its signal whatever the receiver does. It uses
// Node's own client: undici would keep connections open, and the guard would not check a kept connection again.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** For name look-up, connection, request and answer together. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_HEAD_BYTES = 16 * 1024;

interface AttemptResult {
  /** HTTP status of the answer; null without an answer. */
  readonly status: number | null;
  /** Why the webhook was not delivered; null after a 2xx answer. */
  readonly error: string | null;
  /** True when a retry would fail in the same way. */
  readonly lasting: boolean;
}

const GONE = 410;

/** @param stopped aborts the attempt. */
export async function attemptWebhook(
  url: string,
  message: WebhookMessage,
  guard: SsrfGuard,
  stopped: AbortSignal,
): Promise<AttemptResult> {
  const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
  try {
    const status = await callWebhook(url, message, guard, AbortSignal.any([stopped, deadline]));
    if (status >= 200 && status < 300) return { status, error: null, lasting: false };
    if (status === GONE) return { status, error: 'answered 410: the receiver is gone', lasting: true };
    return { status, error: `answered ${status}`, lasting: false };
  } catch (error) {
    if (stopped.aborted) return { status: null, error: 'cardpoll was stopped', lasting: false };
    // The guard does not permit this address, now or later.
    if (error instanceof CardpollError) return { status: null, error: error.message, lasting: true };
    const reason = deadline.aborted ? `no answer within ${CALL_TIMEOUT_MS} ms` : messageOf(error);
    return { status: null, error: reason, lasting: false };
  }
}

/**
 * @returns the status of the answer.
 * @throws CardpollError `invalid` for a URL or address that must not be called; the signal's reason; the socket's error.
 */
export async function callWebhook(
  url: string,
  { body, headers }: WebhookMessage,
  guard: SsrfGuard,
  signal: AbortSignal,
): Promise<number> {
  const refusal = guard.refusalOf(url);
  if (refusal !== null) throw new CardpollError('invalid', 'address_forbidden', refusal);
  const target = new URL(url);
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      headers,
      agent: false,
      lookup: guard.lookup,
      maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
    });
    const giveUp = () => call.destroy(asError(signal.reason));
    signal.addEventListener('abort', giveUp, { once: true });
    call.on('error', reject);
    call.on('response', (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    // Status 101 switches protocols. Without this listener the connection is closed without an answer or an error.
    call.on('upgrade', (answer, socket) => {
      resolve(answer.statusCode ?? 0);
      socket.destroy();
    });
    // Every other end of the connection before an answer.
    call.on('close', () => {
      signal.removeEventListener('abort', giveUp);
      reject(new Error('the connection was closed without an answer'));
    });
    call.end(body);
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
