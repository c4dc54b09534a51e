// What follows from a failed poll: when the card is polled again, and what is stored about the failure. Used by
// worker.ts. Pure.
import { GatewayError } from '../../gateway/gateway.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { FailureNote } from '../../store/ports/live/failure-log.ts';

/** When a failed card may be polled again. */
export interface Retry {
  /** Milliseconds of backoff at which the card is left to its ring. */
  readonly capMs: number;
  /** Shortest wait, milliseconds. */
  readonly waitMs: number;
}

/** The card waits for its ring. */
export const NO_RETRY: Retry = { capMs: 0, waitMs: 0 };

/** Once its backoff reaches this, a failed card is left to its ring. */
const RETRY_CAP_MS = 60_000;
/** Characters kept of an error message: a gateway may answer with a page of HTML. */
const MAX_MESSAGE = 200;

/**
 * A card that the gateway refuses is polled once an interval, by its ring. Any other failed poll is retried with
 * growing pauses, and not before the time that the gateway named.
 */
export function retryOf(error: unknown, intervalMs: number): Retry {
  const gatewayError = error instanceof GatewayError ? error : null;
  if (gatewayError?.isCardFault) return NO_RETRY;
  return { capMs: Math.min(intervalMs, RETRY_CAP_MS), waitMs: gatewayError?.details.retryAfterMs ?? 0 };
}

/** @returns the kind of failure as the `error` field of the log shows it: the gateway's, else the code of our error. */
export function reasonOf(error: unknown): string {
  if (error instanceof GatewayError) return error.failure;
  return error instanceof CardpollError ? error.code : 'internal';
}

export function failureNoteOf(error: unknown, cardId: number, durationMs: number): FailureNote {
  return { cardId, reason: reasonOf(error), message: messageOf(error).slice(0, MAX_MESSAGE), durationMs };
}
