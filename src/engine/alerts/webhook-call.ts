// One webhook call: POST on a connection of its own to an address the guard permits. Used by webhook-attempt.ts. Follows
// no redirect, reads no answer beyond its status, and ends with its signal whatever the receiver does. Node's own
// client: undici would keep connections, and a kept connection was judged some other time.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { CardpollError } from '../../platform/errors.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type { WebhookMessage } from './webhook-message.ts';

const MAX_ANSWER_HEAD_BYTES = 16 * 1024;

/**
 * @returns the status of the answer.
 * @throws CardpollError `invalid` for a URL or address that may not be called; the signal's reason; the socket's error otherwise.
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
    // 101: the connection is another protocol's now. Without a listener it is closed, and neither answer nor error comes.
    call.on('upgrade', (answer, socket) => {
      resolve(answer.statusCode ?? 0);
      socket.destroy();
    });
    // Whatever else there is between a request and its answer, it ends here.
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
