// The input of `cardpoll cards import`: a file or standard input. Its first character shows the format. It is sent in whole
// lines, so that it can end early without a broken row, and a bar shows how far it is.
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { CardpollError, unreadableText } from '../platform/errors.ts';
import type { Io } from './command.ts';
import { plainText } from './output/line.ts';
import { ProgressBar } from './output/progress-bar.ts';

export const STANDARD_INPUT = '-';

/** Throws `input_missing` for a file that cannot be read. @param doing is shown before the file name. */
export async function sendLines<T>(
  io: Io,
  file: string,
  doing: string,
  send: (lines: WholeLines, format: ReturnType<typeof formatOf>) => Promise<T>,
): Promise<T> {
  const { stream, format, bytes } = await openImportSource(io, file);
  const bar = new ProgressBar(io, `${doing} ${plainText(file)}`, bytes);
  try {
    return await send(stream.pipe(new WholeLines(stream, bar)), format);
  } finally {
    bar.clear();
    stream.destroy();
  }
}

/** @returns bytes: null where they are not known before the end. */
async function openImportSource(io: Io, file: string) {
  try {
    const bytes = file === STANDARD_INPUT ? null : (await stat(file)).size;
    const stream = file === STANDARD_INPUT ? io.stdin : createReadStream(file);
    return { stream, format: formatOf(await beginningOf(stream)), bytes };
  } catch (error) {
    throw new CardpollError('input_missing', 'file_unreadable', unreadableText(file, error), {
      cause: error,
    });
  }
}

/** The first chunk; it stays in the stream. */
async function beginningOf(input: Readable): Promise<Buffer> {
  if (input.readableLength === 0 && !input.readableEnded) {
    await Promise.race([once(input, 'readable'), once(input, 'end')]);
  }
  const chunk: Buffer | string | null = input.read();
  if (chunk === null) return Buffer.alloc(0);
  input.unshift(chunk);
  return Buffer.from(chunk);
}

/** Decides by the first character: a JSON object begins with a brace, a CSV header does not. */
function formatOf(start: Buffer): 'csv' | 'ndjson' {
  const text = start
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  return text.startsWith('{') ? 'ndjson' : 'csv';
}

const NEWLINE = 0x0a;
/** A longer line cannot be a row, so it need not be kept whole. */
const LONGEST_LINE_BYTES = 1024 * 1024;

/** Passes lines on, shows how many on a bar, and ends after the last whole line when it is stopped. */
class WholeLines extends Transform {
  #bytes = 0;
  #rows = 0;
  #rest: Buffer = Buffer.alloc(0);
  #stopped = false;

  /** @param source what is piped in; when it fails, this does. */
  constructor(
    private readonly source: Readable,
    private readonly bar: ProgressBar,
  ) {
    super();
    source.once('error', (error) => this.destroy(error));
  }

  /** The source is not read any further. */
  stop(): void {
    if (this.writableEnded) return;
    this.#stopped = true;
    this.source.unpipe(this);
    this.end();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) this.#rows += 1;
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const whole = end === 0 ? Buffer.alloc(0) : Buffer.concat([this.#rest, chunk.subarray(0, end)]);
    this.#rest = end === 0 ? Buffer.concat([this.#rest, chunk]) : chunk.subarray(end);
    if (whole.length > 0) this.push(whole);
    if (this.#rest.length > LONGEST_LINE_BYTES) {
      this.push(this.#rest);
      this.#rest = Buffer.alloc(0);
    }
    this.bar.update(this.#bytes, `${this.#rows.toLocaleString('en-US')} rows`);
    done();
  }

  override _flush(done: TransformCallback): void {
    if (!this.#stopped && this.#rest.length > 0) this.push(this.#rest);
    done();
  }
}
