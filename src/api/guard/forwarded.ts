// Cuts X-Forwarded-For where it is not a list of addresses, before anything reads it. Used by server.ts.
// Fastify takes the rightmost entry that is no trusted proxy as the caller's address, whatever its text is: it would be
// written to the audit trail, and each text would have its own budget of refusals.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const HEADER = 'x-forwarded-for';

/** Keeps the addresses to the right of the last entry that is none, so the caller is the proxy that passed that on. */
export function keepForwardedAddresses({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const header = headers[HEADER];
  if (header === undefined) return;
  const entries = String(header)
    .split(',')
    .map((entry) => entry.trim());
  const kept = entries.slice(entries.findLastIndex((entry) => !isAddress(entry)) + 1);
  if (kept.length === 0) delete headers[HEADER];
  else headers[HEADER] = kept.join(', ');
}

/** A zone after `%` is free text of the sender. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}
