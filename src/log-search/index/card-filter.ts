// A Bloom filter over card ids. Built by index-file.ts, queried by index-store.ts. It answers "absent" or "maybe";
// "absent" is certain. The key of a run of 18 to 22 digits is its first 19: a whole id, with or without its check digit.
// All bits of a card are in one block, and each block has a checksum, so that a query reads one block and not megabytes.
import { crc32 } from 'node:zlib';
import { isDigit, WHOLE_ID_DIGITS } from '../match/card-matcher.ts';

const KEY_DIGITS = 19;
const LONGEST_RUN = 22;
const BITS_A_KEY = 14;
const HASHES = 7;
export const BLOCK_BYTES = 4_096;
const CHECKSUM_AT = BLOCK_BYTES - 4;
const BLOCK_BITS = CHECKSUM_AT * 8;
/** Maximum number of ids; a larger filter would cost more than it saves. */
const MAX_RUNS = 8_000_000;
const RECENT = 65_536;

/** Whether the filter knows cards of this length: it has no parts of ids and no longer digit runs. */
export function isFilterable(card: string): boolean {
  return card.length >= WHOLE_ID_DIGITS && card.length <= LONGEST_RUN;
}

export class CardFilterBuilder {
  /** True when there are too many ids for a filter. */
  overflowed = false;
  #hashes = new Uint32Array(8_192);
  #count = 0;
  readonly #recent = new Uint32Array(RECENT * 2);

  /** Adds the digit runs of the line buf[from, to). Looks at every 18th byte where there are no digits. */
  addLine(buf: Buffer, from: number, to: number): void {
    let at = from;
    while (at + WHOLE_ID_DIGITS <= to) {
      let start = at + WHOLE_ID_DIGITS - 1;
      if (!isDigit(buf[start])) {
        at = start + 1;
        continue;
      }
      while (start > at && isDigit(buf[start - 1])) start -= 1;
      if (start > at) {
        at = start;
        continue;
      }
      let end = at + WHOLE_ID_DIGITS;
      while (end < to && isDigit(buf[end])) end += 1;
      if (end - at <= LONGEST_RUN) this.#add(buf, at, Math.min(end, at + KEY_DIGITS));
      at = end + 1;
    }
  }

  /** The finished filter: blocks of BLOCK_BYTES, one at least. */
  build(): Buffer {
    const blocks = Math.max(1, Math.ceil((this.#count * BITS_A_KEY) / BLOCK_BITS));
    const filter = Buffer.alloc(blocks * BLOCK_BYTES);
    for (let key = 0; key < this.#count; key += 1) {
      const [first = 0, second = 0] = this.#hashes.subarray(key * 2, key * 2 + 2);
      const start = (first % blocks) * BLOCK_BYTES;
      for (const bit of bitsOf(first, second)) {
        const at = start + (bit >>> 3);
        filter[at] = (filter[at] ?? 0) | (1 << (bit & 7));
      }
    }
    for (let start = 0; start < filter.length; start += BLOCK_BYTES) {
      const checksum = crc32(filter.subarray(start, start + CHECKSUM_AT));
      filter.writeUInt32LE(checksum, start + CHECKSUM_AT);
    }
    return filter;
  }

  #add(buf: Buffer, from: number, to: number): void {
    const [first, second] = hash(buf, from, to);
    // The same card comes in bursts, so the recently added ids are skipped.
    const slot = (first & (RECENT - 1)) * 2;
    if (this.#recent[slot] === first && this.#recent[slot + 1] === second) return;
    this.#recent[slot] = first;
    this.#recent[slot + 1] = second;
    if (this.#count >= MAX_RUNS) {
      this.overflowed = true;
      return;
    }
    if (this.#count * 2 === this.#hashes.length) {
      const larger = new Uint32Array(this.#hashes.length * 2);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#count * 2] = first;
    this.#hashes[this.#count * 2 + 1] = second;
    this.#count += 1;
  }
}

/**
 * Whether a card may be in a filter of so many blocks; true when its block is damaged.
 * @param card a filterable one.
 * @param blockAt reads a block of the filter by its number.
 */
export function maybeContains(card: string, blocks: number, blockAt: (block: number) => Buffer): boolean {
  const key = Buffer.from(card.slice(0, KEY_DIGITS), 'latin1');
  const [first, second] = hash(key, 0, key.length);
  const block = blockAt(first % blocks);
  if (block.length !== BLOCK_BYTES) return true;
  if (crc32(block.subarray(0, CHECKSUM_AT)) !== block.readUInt32LE(CHECKSUM_AT)) return true;
  return bitsOf(first, second).every((bit) => ((block[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

/** Where a card's bits are within its block, which `first` alone decides. */
function bitsOf(first: number, second: number): number[] {
  const step = mix(first ^ second) | 1;
  return Array.from({ length: HASHES }, (_, index) => ((second + Math.imul(index, step)) >>> 0) % BLOCK_BITS);
}

/** Two different 32-bit FNV-1a hashes, well mixed. */
function hash(buf: Buffer, from: number, to: number): [number, number] {
  let first = 0x811c9dc5;
  let second = 0x2f0b4c47;
  for (let at = from; at < to; at += 1) {
    const byte = buf[at] ?? 0;
    first = Math.imul(first ^ byte, 0x01000193);
    second = Math.imul(second ^ byte, 0x5bd1e995);
    second ^= second >>> 15;
  }
  return [mix(first), mix(second)];
}

function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
