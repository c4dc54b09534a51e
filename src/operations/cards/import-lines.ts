// Cuts the file of a card import into lines, in constant memory. Used by card-import.ts.
//
// No column can contain a line break, so a row is a line in CSV too. A stray quote then spoils only its own line; with
// a parser of whole files it would spoil everything up to the next quote.
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';

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
 * dropped. The file is UTF-8, or UTF-16 if its byte order mark says so: spreadsheets save "Unicode text" like that.
 */
export async function* readLines(input: Readable): AsyncGenerator<ImportLine[]> {
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

  for await (const piece of textOf(input)) yield cut(piece);
  if (rest !== '' || restTooLong) yield cut('\n');
}

function toText(part: string, number: number, tooLong: boolean): string | null {
  if (tooLong || part.length > MAX_LINE_LENGTH) return null;
  const text = part.endsWith('\r') ? part.slice(0, -1) : part;
  return number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
}

const UTF_16_MARKS = new Map([
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
]);
const MARK_BYTES = 2;

async function* textOf(input: Readable): AsyncGenerator<string> {
  let begun: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | null = null;
  for await (const chunk of input) {
    let bytes: Buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (decoder === null) {
      bytes = Buffer.concat([begun, bytes]);
      begun = bytes;
      if (bytes.length < MARK_BYTES) continue;
      const encoding = UTF_16_MARKS.get(bytes.toString('hex', 0, MARK_BYTES)) ?? 'utf-8';
      decoder = new TextDecoder(encoding, { ignoreBOM: true });
    }
    yield decoder.decode(bytes, { stream: true });
  }
  yield decoder === null ? begun.toString() : decoder.decode();
}
