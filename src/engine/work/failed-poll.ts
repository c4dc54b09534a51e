// What becomes of a poll that failed: when its card is asked again, and what is remembered of it. Used by worker.ts. Pure.
import { GatewayError } from '../../gateway/gateway.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { FailureNote } from '../../store/ports/live/failure-log.ts';

/** When a failed card may be asked again. */
export interface Retry {
  /** Backoff at which it is left to its ring. */
  readonly capMs: number;
  /** How long it must wait at least. */
  readonly waitMs: number;
}

/** Nothing is retried. */
export const NO_RETRY: Retry = { capMs: 0, waitMs: 0 };

/** A card that failed is asked for again by its ring once its backoff reaches this. */
const RETRY_CAP_MS = 60_000;
/** What a gateway says may be a page of HTML. */
const MAX_MESSAGE = 200;

/**
 * A card the gateway refuses is asked once an interval, by its ring. Whatever else failed is tried again with growing
 * pauses, and not before the time the gateway named.
 */
export function retryOf(error: unknown, intervalMs: number): Retry {
  const gatewayError = error instanceof GatewayError ? error : null;
  if (gatewayError?.isCardFault) return NO_RETRY;
  return { capMs: Math.min(intervalMs, RETRY_CAP_MS), waitMs: gatewayError?.details.retryAfterMs ?? 0 };
}

/** Kind of failure, as the log's `error` has it: the gateway's, else the code of our own. */
export function reasonOf(error: unknown): string {
  if (error instanceof GatewayError) return error.failure;
  return error instanceof CardpollError ? error.code : 'internal';
}

export function failureNoteOf(error: unknown, cardId: number, durationMs: number): FailureNote {
  return { cardId, reason: reasonOf(error), message: messageOf(error).slice(0, MAX_MESSAGE), durationMs };
}
