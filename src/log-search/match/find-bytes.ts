// Finds the first of several needles in a buffer without reading most of its bytes. Used by card-matcher.ts and trace-lines.ts.
// It reads words of four bytes, spaced so that every needle contains one of them. A word that is in no needle is skipped; at the
// others the needles are compared. A card has three needles: its digits in a run, with spaces and with hyphens. The words are
// read from a Uint32Array: single bytes or a DataView take twice the time. WebAssembly with SIMD took 0.56 s of a search through
// 3.9 GB, where this takes 0.98 s of 5.7 s, but needs an assembler in the build and separate memory.

const GROUP_BYTES = 4;
const HASH_BITS = 14;
/** Shorter needles permit only short steps, and Buffer.indexOf is faster. */
const MIN_NEEDLE_BYTES = 10;

/** Position of the first needle at or after `from`; -1: none. */
export type FindBytes = (buf: Buffer, from: number) => number;

/** @param needles of at least one byte each. */
export function finderOf(needles: readonly Buffer[]): FindBytes {
  const long = needles.filter(({ length }) => length >= MIN_NEEDLE_BYTES);
  const short = needles.filter(({ length }) => length < MIN_NEEDLE_BYTES);
  const finds = short.map(
    (needle): FindBytes =>
      (buf, from) =>
        buf.indexOf(needle, from),
  );
  if (long.length > 0) finds.push(bySamples(long));
  const [only] = finds;
  return finds.length === 1 && only !== undefined ? only : firstOf(finds);
}

/** Calls each function again only after its last result has been passed. */
function firstOf(finds: readonly FindBytes[]): FindBytes {
  let searched: Buffer | null = null;
  let searchedFrom = 0;
  let found: number[] = [];
  return (buf, from) => {
    const isNew = buf !== searched || from < searchedFrom;
    found = finds.map((find, nth) => {
      const known = isNew ? -1 : (found[nth] ?? -1);
      if (known >= from) return known;
      const at = find(buf, from);
      return at === -1 ? Number.POSITIVE_INFINITY : at;
    });
    [searched, searchedFrom] = [buf, from];
    const first = Math.min(...found);
    return first === Number.POSITIVE_INFINITY ? -1 : first;
  };
}

function bySamples(needles: readonly Buffer[]): FindBytes {
  const groups = Math.min(...needles.map(({ length }) => length)) - GROUP_BYTES + 1;
  const step = Math.floor(groups / GROUP_BYTES);
  const isKnown = new Uint8Array(1 << HASH_BITS);
  /** Needles by the hash of a group, with its offset; those that would begin first are first. */
  const places = new Map<number, { readonly needle: Buffer; readonly offset: number }[]>();
  for (let offset = groups - 1; offset >= 0; offset -= 1) {
    for (const needle of needles) {
      const group = Uint8Array.from(needle.subarray(offset, offset + GROUP_BYTES));
      const hash = hashAt(new Uint32Array(group.buffer), 0);
      isKnown[hash] = 1;
      places.set(hash, [...(places.get(hash) ?? []), { needle, offset }]);
    }
  }
  return (buf, from) => {
    const first = from + padding(buf.byteOffset + from);
    if (first + GROUP_BYTES > buf.length) return -1;
    const words = new Uint32Array(buf.buffer, buf.byteOffset + first, (buf.length - first) >> 2);
    for (let at = nextKnown(words, 0, step, isKnown); at < words.length; ) {
      for (const { needle, offset } of places.get(hashAt(words, at)) ?? []) {
        const start = first + at * GROUP_BYTES - offset;
        if (start >= from && isAt(buf, needle, start)) return start;
      }
      at = nextKnown(words, at + step, step, isKnown);
    }
    return -1;
  };
}

/** The first known word, in steps from `at`. A separate function, because the loop is then compiled to faster code. */
function nextKnown(words: Uint32Array, at: number, step: number, isKnown: Uint8Array): number {
  let next = at;
  while (next < words.length && isKnown[hashAt(words, next)] === 0) next += step;
  return next;
}

/** Words in memory are aligned. */
function padding(address: number): number {
  return -address & (GROUP_BYTES - 1);
}

/** Multiplicative hashing by the golden ratio. */
function hashAt(words: Uint32Array, at: number): number {
  return Math.imul(words[at] ?? 0, 0x9e3779b1) >>> (32 - HASH_BITS);
}

/** Compares from the end: ids of a kind have the same beginning. */
export function isAt(buf: Buffer, needle: Buffer, start: number): boolean {
  let nth = start + needle.length > buf.length ? -1 : needle.length;
  while (nth > 0 && buf[start + nth - 1] === needle[nth - 1]) nth -= 1;
  return nth === 0;
}
