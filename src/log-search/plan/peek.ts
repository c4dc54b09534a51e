// Finds the times at the ends of a file cheaply: near its beginning with one 8 KiB read, and near its end if it is not
// compressed. Used by plan.ts to exclude files. An unknown time is null, and null never excludes a file.
import { constants, gunzipSync } from 'node:zlib';
import type { FileBytes } from '../read/file-bytes.ts';
import { isGzip } from '../read/gzip/gzip-format.ts';
import { timeOfLine } from '../time/timestamps.ts';
import type { Zone } from '../time/zone.ts';

const HEAD_BYTES = 8_192;
const TAIL_BYTES = 65_536;
const MAX_INFLATED_BYTES = 4 * 1024 * 1024;
/** More than one, so that a single wrong date does not decide. */
const HEAD_LINES = 20;
const NEWLINE = 0x0a;

interface Peek {
  /** The earliest time near the beginning. */
  readonly firstMs: number | null;
  /** The latest time near the end. */
  readonly lastMs: number | null;
}

export function peek(file: FileBytes, zone: Zone): Peek {
  const head = file.readAt(0, Buffer.allocUnsafe(HEAD_BYTES));
  const gzip = isGzip(head);
  const data = gzip ? inflateHead(head) : head;
  const times = timesOf(data, 0, data.lastIndexOf(NEWLINE), HEAD_LINES, zone);
  return {
    firstMs: times.length === 0 ? null : Math.min(...times),
    lastMs: gzip ? null : lastTime(file, zone),
  };
}

function inflateHead(head: Buffer): Buffer {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_INFLATED_BYTES });
  } catch {
    // Damaged, or too large after inflating; the scan will report it.
    return Buffer.alloc(0);
  }
}

function lastTime(file: FileBytes, zone: Zone): number | null {
  const offset = Math.max(0, file.size - TAIL_BYTES);
  const tail = file.readAt(offset, Buffer.allocUnsafe(TAIL_BYTES));
  const start = offset === 0 ? 0 : tail.indexOf(NEWLINE) + 1;
  const times = timesOf(tail, start, tail.length, Number.POSITIVE_INFINITY, zone);
  return times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));
}

function timesOf(data: Buffer, from: number, to: number, lines: number, zone: Zone): number[] {
  const times: number[] = [];
  let left = lines;
  for (let start = from; start < to && left > 0; left -= 1) {
    const newline = data.indexOf(NEWLINE, start);
    const end = newline === -1 || newline > to ? to : newline;
    const time = timeOfLine(data, start, end, zone);
    if (time !== undefined) times.push(time);
    start = end + 1;
  }
  return times;
}
