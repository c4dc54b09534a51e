// How the client sends a POST: until its outcome is known, as long as its time lasts. Its Idempotency-Key lets it take
// effect once, however often it is sent. Used by client-calls.ts.
import type { Clock } from '../../platform/clock.ts';
import { objectIn } from './client-errors.ts';
import { exchange, type Incoming, type Outgoing } from './client-transport.ts';

const ASK_AGAIN_MS = 1_000;
const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE']);
/** The work was too slow for the answer that came (answer-in-time.ts), or still runs for an earlier attempt. */
const UNFINISHED = new Set<unknown>(['store_timeout', 'idempotency_request_running']);

/** Answers to a repeat that tell nothing of the change: too many requests, and a daemon or store that is away. */
const TELLING_NOTHING = new Set([429, 503]);

/**
 * Rejects as `exchange` does while nothing has been heard. Where the change's end is not heard of any more, because the
 * time of the signal is over or the daemon is away, the first answer is what there is to tell: it may still be done.
 */
export async function exchangeUntilDone(
  target: URL,
  outgoing: Outgoing,
  clock: Pick<Clock, 'sleep'>,
): Promise<Incoming> {
  const { signal } = outgoing;
  const first = await exchangeAgainAfterReset(target, outgoing);
  try {
    for (let heard = first; ; heard = await exchangeAgainAfterReset(target, outgoing)) {
      if (!isUnfinished(heard)) return heard !== first && TELLING_NOTHING.has(heard.status) ? first : heard;
      await clock.sleep(ASK_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted && !isOver(signal)) throw error;
    return first;
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
