// Cuts an import file into lines, in constant memory for any content. Used by card-import.ts.
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Far longer than any valid row. In UTF-16 units, which are bytes for digits and names. */
const MAX_LINE_LENGTH = 64 * 1024;

export interface ImportLine {
  /** Number of the line, from 1. */
  readonly number: number;
  /** The line without its end (LF or CRLF); null for a line longer than 64 KiB. */
  readonly text: string | null;
}

/**
 * Yields the lines of each piece of input together, which is much cheaper than one by one. A byte order mark is
 * dropped.
 */
export async function* readLines(input: Readable): AsyncGenerator<ImportLine[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let restTooLong = false;
  let number = 0;

  function cut(piece: string): ImportLine[] {
    const parts = (rest + piece).split('\n');
    rest = parts.pop() as string;
    const lines = parts.map((part, i): ImportLine => {
      number += 1;
      return { number, text: toText(part, number, i === 0 && restTooLong) };
    });
    if (parts.length > 0) restTooLong = false;
    if (rest.length > MAX_LINE_LENGTH) {
      rest = '';
      restTooLong = true;
    }
    return lines;
  }

  for await (const chunk of input) yield cut(typeof chunk === 'string' ? chunk : decoder.write(chunk));
  const last = cut(decoder.end());
  yield rest === '' && !restTooLong ? last : [...last, ...cut('\n')];
}

function toText(part: string, number: number, tooLong: boolean): string | null {
  if (tooLong || part.length > MAX_LINE_LENGTH) return null;
  const text = part.endsWith('\r') ? part.slice(0, -1) : part;
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
}
