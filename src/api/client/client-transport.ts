// The HTTP exchanges of the API client. Uses Node's own client instead of undici: it loads in a tenth of the time,
// which is what a command that asks one question spends most of its life on. A POST is sent until its outcome is known, as
// long as its time lasts: its Idempotency-Key lets it take effect once, however often it is sent.
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import { objectIn } from './client-errors.ts';

export interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | null;
  readonly signal: AbortSignal;
}

export interface Incoming {
  readonly status: number;
  readonly text: string;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const ASK_AGAIN_MS = 1_000;
const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE']);
/** The work was too slow for the answer that came (answer-in-time.ts), or still runs for an earlier attempt. */
const UNFINISHED = new Set<unknown>(['store_timeout', 'idempotency_request_running']);

/** Answers to a repeat that tell nothing of the change: too many requests, and a daemon or store that is away. */
const TELLING_NOTHING = new Set([429, 503]);

/** Rejects with the driver's error when the exchange fails, and with `unavailable` for an answer without end. */
export async function exchange(target: URL, outgoing: Outgoing): Promise<Incoming> {
  const response = await open(target, outgoing);
  return { status: response.statusCode ?? 0, text: await readBounded(response) };
}

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

/** The answer as it begins to arrive; the caller reads it. */
export async function open(target: URL, outgoing: Outgoing): Promise<IncomingMessage> {
  const { request } = target.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const { method, headers, body, signal } = outgoing;
  return send(
    (onResponse) => request(target, { method, headers, signal } satisfies RequestOptions, onResponse),
    body,
  );
}

function send(
  open: (onResponse: (response: IncomingMessage) => void) => ClientRequest,
  body: Outgoing['body'],
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = open(resolve);
    request.on('error', reject);
    if (body === null || typeof body === 'string') {
      request.end(body ?? undefined);
      return;
    }
    // A server that refuses early closes while we still send: then its answer counts, not the broken pipe.
    pipeline(body, request, (error) => {
      if (error) reject(error);
    });
  });
}

export async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new CardpollError(
        'unavailable',
        'answer_too_large',
        'the answer of the daemon is too large to be one',
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
