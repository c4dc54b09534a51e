// A Bloom filter over card ids. Built by index-file.ts, asked by index-store.ts. Says "absent" or "maybe", and "absent"
// is certain. A run of 18 to 22 digits is known by its first 19: a whole id, with or without its check digit.
import { isDigit, WHOLE_ID_DIGITS } from './match.ts';

const KEY_DIGITS = 19;
const LONGEST_RUN = 22;
const BITS_A_KEY = 12;
const HASHES = 7;
const MIN_BITS = 1_024;
/** Beyond this the filter would cost more than it is worth. */
const MAX_RUNS = 8_000_000;
const RECENT = 65_536;

/** Whether the filter can be asked about a card at all: parts of ids and odd runs are not in it. */
export function isFilterable(card: string): boolean {
  return card.length >= WHOLE_ID_DIGITS && card.length <= LONGEST_RUN;
}

export class CardFilterBuilder {
  /** There are too many ids for a filter. */
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

  /** The finished filter's bits; their number is a power of two. */
  build(): Buffer {
    let bits = MIN_BITS;
    while (bits < this.#count * BITS_A_KEY) bits *= 2;
    const filter = Buffer.alloc(bits / 8);
    for (let index = 0; index < this.#count; index += 1) {
      forEachBit(this.#hashes[index * 2] ?? 0, this.#hashes[index * 2 + 1] ?? 0, bits, (bit) => {
        filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
        return true;
      });
    }
    return filter;
  }

  #add(buf: Buffer, from: number, to: number): void {
    const [first, second] = hash(buf, from, to);
    // The same card comes in bursts: remember what was added lately.
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

/** @param card a filterable one. */
export function maybeContains(filter: Buffer, card: string): boolean {
  const key = Buffer.from(card.slice(0, KEY_DIGITS), 'latin1');
  const [first, second] = hash(key, 0, key.length);
  return forEachBit(
    first,
    second,
    filter.length * 8,
    (bit) => ((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0,
  );
}

/** Stops at the first `false`, and returns whether there was none. */
function forEachBit(first: number, second: number, bits: number, visit: (bit: number) => boolean): boolean {
  for (let index = 0; index < HASHES; index += 1) {
    if (!visit(((first + Math.imul(index, second)) >>> 0) & (bits - 1))) return false;
  }
  return true;
}

/** Two different 32-bit FNV-1a hashes, well mixed; the second is odd. */
function hash(buf: Buffer, from: number, to: number): [number, number] {
  let first = 0x811c9dc5;
  let second = 0x2f0b4c47;
  for (let at = from; at < to; at += 1) {
    const byte = buf[at] ?? 0;
    first = Math.imul(first ^ byte, 0x01000193);
    second = Math.imul(second ^ byte, 0x5bd1e995);
    second ^= second >>> 15;
  }
  return [mix(first), (mix(second) | 1) >>> 0];
}

function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
