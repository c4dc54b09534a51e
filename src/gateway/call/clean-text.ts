// Makes text of the gateway fit for a log line and a terminal. Used by client.ts, for what a failing call says.

const MAX_CHARS = 200;

/** No control characters, at most 200 characters. */
export function cleanText(text: string): string {
  const cleaned = text
    .slice(0, 4 * MAX_CHARS)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  return cleaned.length > MAX_CHARS ? `${cleaned.slice(0, MAX_CHARS - 1)}…` : cleaned;
}
