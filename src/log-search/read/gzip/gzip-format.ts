// The framing of gzip (RFC 1952): headers, trailers and the search for the next member after damage. No inflating here.
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import type { FileWindow } from '../file-bytes.ts';
import { isText } from '../text.ts';

const GZIP_TRAILER_BYTES = 8;
/** Headers with longer names or comments count as damage. */
const MAX_HEADER_BYTES = 65_536;
const USUAL_HEADER_BYTES = 512;

const HAS_HEADER_CRC = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;
/** Length of a header without name, comment and extra field; also the overlap when a header is searched in pieces. */
export const HEADER_BYTES = 10;
const LAST_KNOWN_SYSTEM = 13;
const UNKNOWN_SYSTEM = 255;

export function isGzip(head: Buffer): boolean {
  return head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b;
}

/** Whether a file without the gzip magic was gzip: its name says so, and it is (almost) empty or not text. */
export function wasGzip(head: Buffer, path: string): boolean {
  return /\.gz$/i.test(path) && (head.length < 2 || !isText(head));
}

/** The length of the member header at `offset`; `cut` when the file ends inside it. */
export function readHeader(file: FileWindow, offset: number): number | 'cut' | 'none' {
  const usual = parseHeader(file.all(offset, USUAL_HEADER_BYTES));
  return usual === 'cut' ? parseHeader(file.all(offset, MAX_HEADER_BYTES)) : usual;
}

/** `cut`: the bytes end inside the header. */
function parseHeader(bytes: Buffer): number | 'cut' | 'none' {
  const magic = [0x1f, 0x8b, 8];
  const known = bytes.subarray(0, 3);
  if (known.some((byte, nth) => byte !== magic[nth])) return 'none';
  if (bytes.length < HEADER_BYTES) return 'cut';
  const flags = bytes[3] ?? 0;
  if ((flags & RESERVED_FLAGS) !== 0) return 'none';
  let at = HEADER_BYTES;
  if ((flags & HAS_EXTRA) !== 0) {
    if (at + 2 > bytes.length) return 'cut';
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = at < bytes.length ? bytes.indexOf(0, at) : -1;
    if (end === -1) return 'cut';
    at = end + 1;
  }
  if ((flags & HAS_HEADER_CRC) !== 0) at += 2;
  return at > bytes.length ? 'cut' : at;
}

/** Position of the next member at or after `from`, by the fixed bytes of a header; -1: none. */
export function findMember(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0x1f, from); at !== -1; at = bytes.indexOf(0x1f, at + 1)) {
    if (at + HEADER_BYTES <= bytes.length && looksLikeHeader(bytes, at)) return at;
  }
  return -1;
}

/** Compressed data contains the first three bytes by chance once in 16 MB, so the flags and the last two are checked too. */
function looksLikeHeader(bytes: Buffer, at: number): boolean {
  const byte = (offset: number) => bytes[at + offset] ?? 0;
  return (
    byte(1) === 0x8b &&
    byte(2) === 8 &&
    (byte(3) & RESERVED_FLAGS) === 0 &&
    [0, 2, 4].includes(byte(8)) &&
    (byte(9) <= LAST_KNOWN_SYSTEM || byte(9) === UNKNOWN_SYSTEM)
  );
}

type Crc32 = (data: Buffer, previous: number) => number;

let loadedCrc32: Crc32 | undefined;

/**
 * The CRC-32 of a trailer: continues `previous` (0 at the start) with `data`. Uses `@node-rs/crc32` if it is installed: 12 ms for
 * 156 MB of logs, where `zlib.crc32` takes 31 ms.
 */
export function crc32(data: Buffer, previous: number): number {
  loadedCrc32 ??= loadCrc32();
  return loadedCrc32(data, previous);
}

function loadCrc32(): Crc32 {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as { crc32: Crc32 }).crc32;
  } catch {
    return zlib.crc32;
  }
}

/** The trailer for data with this CRC-32 and length. */
export function trailerOf(crc: number, length: number): Buffer {
  const trailer = Buffer.alloc(GZIP_TRAILER_BYTES);
  trailer.writeUInt32LE(crc >>> 0, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}
