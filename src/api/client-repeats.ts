// How the client sends a POST: until its outcome is known, as long as its time lasts. Its Idempotency-Key lets it take
// effect once, however often it is sent. Used by client-calls.ts.
import type { Clock } from '../platform/clock.ts';
import { objectIn } from './client-errors.ts';
import { exchange, type Incoming, type Outgoing } from './client-transport.ts';

const ASK_AGAIN_MS = 500;
const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE']);
/** The work was too slow for the answer that came (answer-in-time.ts), or still runs for an earlier attempt. */
const UNFINISHED = new Set<unknown>(['store_timeout', 'idempotency_request_running']);

/**
 * Rejects as `exchange` does while nothing has been heard. Where the time of the signal is over before the work is, its
 * last answer is what there is to tell.
 */
export async function exchangeUntilDone(
  target: URL,
  outgoing: Outgoing,
  clock: Pick<Clock, 'sleep'>,
): Promise<Incoming> {
  const { signal } = outgoing;
  let heard = await exchangeAgainAfterReset(target, outgoing);
  try {
    while (isUnfinished(heard)) {
      await clock.sleep(ASK_AGAIN_MS, signal);
      signal.throwIfAborted();
      const next = await exchangeAgainAfterReset(target, outgoing);
      // That it still runs is no news; how it was answered first is more.
      if (next.status !== 409 || !isUnfinished(next)) heard = next;
    }
    return heard;
  } catch (error) {
    if (isOver(signal)) return heard;
    throw error;
  }
}

/** Sends a second time when the connection broke before the answer. */
async function exchangeAgainAfterReset(target: URL, outgoing: Outgoing): Promise<Incoming> {
  try {
    return await exchange(target, outgoing);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (outgoing.signal.aborted || !BROKEN_CONNECTION.has(code ?? '')) throw error;
    return exchange(target, outgoing);
  }
}

function isUnfinished({ status, text }: Incoming): boolean {
  return status >= 400 && UNFINISHED.has(objectIn(text)?.code);
}

function isOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof DOMException && reason.name === 'TimeoutError';
}
