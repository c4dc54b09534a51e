// Makes text from the gateway safe for a log line and a terminal. Used by client.ts for the message of a failed call.
import { plainText } from '../../domain/plain-text.ts';

const MAX_CHARS = 200;

/** Removes control characters and cuts to 200 characters. */
export function cleanText(text: string): string {
  const cleaned = plainText(text.slice(0, 4 * MAX_CHARS)).trim();
  return cleaned.length > MAX_CHARS ? `${cleaned.slice(0, MAX_CHARS - 1)}…` : cleaned;
}
