// One HTTP exchange of the API client. Uses Node's own client instead of undici: it loads in a tenth of the time,
// which is what a command that asks one question spends most of its life on.
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { CardpollError } from '../../platform/errors.ts';

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

/** Rejects with the driver's error when the exchange fails, and with `unavailable` for an answer without end. */
export async function exchange(target: URL, outgoing: Outgoing): Promise<Incoming> {
  const response = await open(target, outgoing);
  return { status: response.statusCode ?? 0, text: await readBounded(response) };
}

/** The answer as it begins to arrive; whoever calls reads it. */
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
