// The input of `cardpoll cards import`: a file or standard input. Its first character shows the format. It is sent in whole
// lines, so that it can end early without a broken row, and a bar shows how far it is.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ImportFormat } from '../api/client/client-bodies.ts';
import { plainText } from '../domain/plain-text.ts';
import { grouped } from '../domain/words.ts';
import { CardpollError, unreadableText } from '../platform/errors.ts';
import type { Io } from './command.ts';
import { ProgressBar } from './output/progress-bar.ts';

export const STANDARD_INPUT = '-';

interface Sent {
  readonly lines: Readable;
  readonly format: ImportFormat;
  /** Ends the lines after the last whole one that was read. */
  readonly stop: () => void;
}

/** Throws `input_missing` for a file that cannot be read. @param doing is shown before the file name. */
export async function sendLines<T>(
  io: Io,
  file: string,
  doing: string,
  send: (sent: Sent) => Promise<T>,
): Promise<T> {
  const { stream, chunks, first, bytes } = await openImportSource(io, file);
  const bar = new ProgressBar(io, `${doing} ${plainText(file)}`, bytes);
  const lines = Readable.from(wholeLines(stream, first, chunks, bar), { objectMode: false });
  try {
    return await send({ lines, format: formatOf(first), stop: () => stream.destroy() });
  } finally {
    bar.clear();
    stream.destroy();
  }
}

type Chunk = IteratorResult<Buffer | string>;

/** @returns bytes: null where they are not known before the end. */
async function openImportSource(io: Io, file: string) {
  try {
    const bytes = file === STANDARD_INPUT ? null : (await stat(file)).size;
    const stream = file === STANDARD_INPUT ? io.stdin : createReadStream(file);
    const chunks: AsyncIterator<Buffer | string> = stream[Symbol.asyncIterator]();
    return { stream, chunks, first: await firstText(chunks), bytes };
  } catch (error) {
    throw new CardpollError('input_missing', 'file_unreadable', unreadableText(file, error), {
      cause: error,
    });
  }
}

/** @returns the first chunk, with all after it up to the first one that is not blank: that shows the format. */
async function firstText(chunks: AsyncIterator<Buffer | string>): Promise<Chunk> {
  let text = Buffer.alloc(0);
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return text.length === 0 ? next : { value: text };
    text = Buffer.concat([text, Buffer.from(next.value)]);
    if (text.toString().trim() !== '' || text.length > LONGEST_LINE_BYTES) return { value: text };
  }
}

/** Decides by the first character: a JSON object begins with a brace, a CSV header does not. */
function formatOf(first: Chunk): ImportFormat {
  const text = first.done === true ? '' : first.value.toString();
  // Byte order marks, and the other half of each character in UTF-16.
  const characters = text.replace(/[\uFEFF\uFFFD\0]/g, '');
  return characters.trimStart().startsWith('{') ? 'ndjson' : 'csv';
}

const NEWLINE = 0x0a;
/** A longer line cannot be a row, so it need not be kept whole. */
const LONGEST_LINE_BYTES = 1024 * 1024;

/** Passes whole lines on, and shows how many on a bar. A source that is destroyed ends after the last whole line. */
async function* wholeLines(
  source: Readable,
  first: Chunk,
  chunks: AsyncIterator<Buffer | string>,
  bar: ProgressBar,
) {
  let [bytes, rows] = [0, 0];
  let rest: Buffer = Buffer.alloc(0);
  try {
    for (let next = first; next.done !== true; next = await chunks.next()) {
      const chunk = typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
      bytes += chunk.length;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) rows += 1;
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (end > 0) yield Buffer.concat([rest, chunk.subarray(0, end)]);
      rest = end > 0 ? chunk.subarray(end) : Buffer.concat([rest, chunk]);
      if (rest.length > LONGEST_LINE_BYTES) {
        yield rest;
        rest = Buffer.alloc(0);
      }
      bar.update(bytes, `${grouped(rows)} rows`);
    }
  } catch (error) {
    if (source.errored !== null) throw error;
  }
  if (rest.length > 0 && !source.readableAborted) yield rest;
}
