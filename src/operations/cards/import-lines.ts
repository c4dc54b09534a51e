// Splits the file of a card import into lines, in constant memory. Used by card-import.ts. csv-fields.ts joins lines again where
// a line break is in quotes.
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';

/** Far longer than any valid row. In UTF-16 units, which are bytes for digits and names. */
export const LONGEST_LINE = 64 * 1024;
/** The problem of a longer line or row. */
export const TOO_LONG = 'longer than 64 KiB';

/** The problem of a row with another line end inside. */
export const HAS_CR = 'there is a CR without LF in it';
export const CR_HINT =
  "Save the file with LF or CRLF at the ends of lines: tr '\\r' '\\n' < FILE > cards.csv";

/** A line that is too long. */
export interface LongLine {
  readonly text: null;
  /** Its first part, of up to 64 KiB. */
  readonly start: string;
  readonly hasQuotes: boolean;
}

/** `number` counts lines from 1; `text` is the line without its end (LF or CRLF). */
export type ImportLine = { readonly number: number } & ({ readonly text: string } | LongLine);

/**
 * Yields the lines of each piece of input together, which is much cheaper than one by one. A byte order mark is removed. The file
 * is UTF-8, or UTF-16 if its byte order mark says so: spreadsheets save "Unicode text" in that form.
 */
export async function* readLines(input: Readable): AsyncGenerator<ImportLine[]> {
  let rest = '';
  /** The current line, if it is already too long. */
  let long: LongLine | null = null;
  let number = 0;

  function cut(piece: string): ImportLine[] {
    const parts = (rest + piece).split('\n');
    rest = parts.pop() as string;
    const lines = parts.map((part, i): ImportLine => {
      number += 1;
      return lineOf(part, number, i === 0 ? long : null);
    });
    if (parts.length > 0) long = null;
    if (rest.length > LONGEST_LINE) {
      long = longer(long, rest);
      rest = '';
    }
    return lines;
  }

  for await (const piece of textOf(input)) yield cut(piece);
  if (rest !== '' || long !== null) yield cut('\n');
}

function lineOf(part: string, number: number, long: LongLine | null): ImportLine {
  if (long !== null || part.length > LONGEST_LINE) return { number, ...longer(long, part) };
  const text = part.endsWith('\r') ? part.slice(0, -1) : part;
  return { number, text: number === 1 ? withoutMark(text) : text };
}

function longer(before: LongLine | null, part: string): LongLine {
  return {
    text: null,
    start: before?.start ?? withoutMark(part.slice(0, LONGEST_LINE)),
    hasQuotes: before?.hasQuotes === true || part.includes('"'),
  };
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
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
