// Makes the logs that `npm run bench:logs` searches: lines as the worker writes them, a gz file a day, named as
// logrotate's dateext does. What is in them is known to the line.
import { once } from 'node:events';
import { createWriteStream, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';

/** In every file. */
export const COMMON_CARD = '8986001234567890123';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-02-01T00:00:00Z');
const COMMON_EVERY = 40_000;
const BYTES_A_LINE = 264;
const LINES_A_WRITE = 2_000;

export interface LogCorpus {
  readonly root: string;
  readonly files: readonly string[];
  /** Inflated. */
  readonly bytes: number;
  /** Lines with COMMON_CARD, a file. */
  readonly hits: readonly number[];
}

/** The day a file is about: YYYY-MM-DD. */
export function dayOf(file: number): string {
  return new Date(START_MS + file * DAY_MS).toISOString().slice(0, 10);
}

export interface LogShape {
  readonly files: number;
  /** Inflated. */
  readonly bytesAFile: number;
  /** Corpora of different seeds have different cards in them. */
  readonly seed: number;
}

export async function makeLogs(root: string, shape: LogShape): Promise<LogCorpus> {
  const { files } = shape;
  mkdirSync(root, { recursive: true });
  const made: { path: string; bytes: number; hits: number }[] = [];
  // Two at a time: one thread makes lines, the others compress them.
  for (let file = 0; file < files; file += 2) {
    const pair = [file, file + 1].filter((one) => one < files);
    made.push(...(await Promise.all(pair.map((one) => makeFile(root, one, shape)))));
  }
  return {
    root,
    files: made.map(({ path }) => path),
    bytes: made.reduce((sum, { bytes }) => sum + bytes, 0),
    hits: made.map(({ hits }) => hits),
  };
}

async function makeFile(root: string, file: number, { bytesAFile, seed }: LogShape) {
  const path = join(root, `worker.log-${dayOf(file + 1).replaceAll('-', '')}.gz`);
  const gzip = createGzip();
  const written = once(gzip.pipe(createWriteStream(path)), 'close');
  const random = generator(seed + file);
  const lines = Math.floor(bytesAFile / BYTES_A_LINE);
  let [bytes, hits] = [0, 0];
  for (let line = 0; line < lines; ) {
    let text = '';
    for (const end = Math.min(lines, line + LINES_A_WRITE); line < end; line += 1) {
      const ms = START_MS + DAY_MS * (file + line / lines);
      const isHit = line % COMMON_EVERY === 1;
      if (isHit) hits += 1;
      text += logLine(ms, isHit ? COMMON_CARD : null, random);
    }
    bytes += Buffer.byteLength(text);
    if (!gzip.write(text)) await once(gzip, 'drain');
  }
  gzip.end();
  await written;
  const closed = new Date(START_MS + (file + 1) * DAY_MS);
  utimesSync(path, closed, closed);
  return { path, bytes, hits };
}

function logLine(ms: number, card: string | null, random: () => number): string {
  const number = (digits: number) => String(Math.floor(random() * 10 ** digits)).padStart(digits, '0');
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return `{"level":"info","time":"${new Date(ms).toISOString()}","request_id":"${hex()}${hex()}","card_id":${number(8)},"iccid":"${card ?? `89860${number(7)}${number(7)}`}","path":"/gateway/v1/realname/query","interface":"realname","duration_ms":${number(3)},"status":200,"realStatus":${random() < 0.5 ? 1 : 0},"msg":"实名检查完成"}\n`;
}

function generator(seed: number): () => number {
  let state = seed * 7_919;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
