// The input of `cardpoll cards import`: a file or standard input. Its first character shows the format. It is sent in whole rows,
// so that it can end early without a broken one, and a bar shows the progress.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { plainText } from '../domain/plain-text.ts';
import { grouped } from '../domain/words.ts';
import { CardpollError, unreadableText } from '../platform/errors.ts';
import type { ImportFormat } from '../resources/cards.ts';
import type { Io } from './command.ts';
import { ProgressBar } from './output/progress-bar.ts';

export const STANDARD_INPUT = '-';

interface Sent {
  readonly lines: Readable;
  readonly format: ImportFormat;
  /** Ends the lines after the last whole row that was read. */
  readonly stop: () => void;
}

/** Throws `input_missing` for a file that cannot be read. @param doing text before the file name. */
export async function sendLines<T>(
  io: Io,
  file: string,
  doing: string,
  send: (sent: Sent) => Promise<T>,
): Promise<T> {
  const { stream, chunks, first, bytes } = await openImportSource(io, file);
  const bar = new ProgressBar(io, `${doing} ${plainText(file)}`, bytes);
  const format = formatOf(first);
  const rows = wholeRows(stream, first, chunks, format, bar);
  const lines = Readable.from(rows, { objectMode: false });
  try {
    return await send({ lines, format, stop: () => stream.destroy() });
  } finally {
    bar.clear();
    stream.destroy();
  }
}

type Chunk = IteratorResult<Buffer | string>;

/** @returns bytes: null where the size is unknown. */
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

/** @returns the input up to and including the first chunk that is not blank, which shows the format. */
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
const QUOTE = 0x22;
/** A longer row is a bad one, so it need not be kept whole. */
const LONGEST_LINE_BYTES = 1024 * 1024;

/** Passes whole rows on, and shows the number of lines on a bar. A source that is destroyed ends after the last whole row. */
async function* wholeRows(
  source: Readable,
  first: Chunk,
  chunks: AsyncIterator<Buffer | string>,
  format: ImportFormat,
  bar: ProgressBar,
) {
  let [bytes, lines, isInQuotes] = [0, 0, false];
  // Joined only when passed on: otherwise small pieces of a long row would be copied again with each piece.
  let [rest, restBytes] = [[] as Buffer[], 0];
  try {
    for (let next = first; next.done !== true; next = await chunks.next()) {
      const chunk = typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
      bytes += chunk.length;
      const found = endOfRows(chunk, format === 'csv', isInQuotes);
      lines += found.lines;
      isInQuotes = found.isInQuotes;
      if (found.end > 0) {
        yield Buffer.concat([...rest, chunk.subarray(0, found.end)]);
        [rest, restBytes] = [[], 0];
      }
      rest.push(chunk.subarray(found.end));
      restBytes += chunk.length - found.end;
      if (restBytes > LONGEST_LINE_BYTES) {
        // Not a row, or a quote that opens no field, as in 5": from here on every line end ends a row.
        const whole = Buffer.concat(rest);
        const end = whole.lastIndexOf(NEWLINE) + 1 || whole.length;
        yield whole.subarray(0, end);
        [rest, restBytes] = [[whole.subarray(end)], whole.length - end];
        isInQuotes = false;
      }
      bar.update(bytes, `${grouped(lines)} rows`);
    }
  } catch (error) {
    if (source.errored !== null) throw error;
  }
  if (restBytes > 0 && !source.readableAborted) yield Buffer.concat(rest);
}

/** @returns the end of the last row of the chunk, after its line break; 0: none. In CSV a line break in quotes ends no row. */
function endOfRows(chunk: Buffer, isCsv: boolean, isInQuotes: boolean) {
  let [lines, end, inQuotes] = [0, 0, isInQuotes];
  let quote = isCsv ? chunk.indexOf(QUOTE) : -1;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
    lines += 1;
    for (; quote !== -1 && quote < at; quote = chunk.indexOf(QUOTE, quote + 1)) inQuotes = !inQuotes;
    if (!inQuotes) end = at + 1;
  }
  for (; quote !== -1; quote = chunk.indexOf(QUOTE, quote + 1)) inQuotes = !inQuotes;
  return { lines, end, isInQuotes: inQuotes };
}
