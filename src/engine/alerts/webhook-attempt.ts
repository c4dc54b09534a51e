// One attempt to deliver a webhook: the call within its deadline, and what came of it in words. Used by the sender and the
// tester; whether it is tried again is theirs to say.
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import { callWebhook } from './webhook-call.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** For name look-up, connection, request and answer together. */
const CALL_TIMEOUT_MS = 10_000;

interface AttemptResult {
  /** Null where no answer came. */
  readonly status: number | null;
  /** Why it was not delivered; null when it was: only a 2xx answer says so. */
  readonly error: string | null;
  /** Trying again is of no use. */
  readonly lasting: boolean;
}

const GONE = 410;

/** @param stopped breaks it off. */
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
    // An address that may not be called stays one.
    if (error instanceof CardpollError) return { status: null, error: error.message, lasting: true };
    const reason = deadline.aborted ? `no answer within ${CALL_TIMEOUT_MS} ms` : messageOf(error);
    return { status: null, error: reason, lasting: false };
  }
}
