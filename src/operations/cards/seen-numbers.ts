// Remembers the card ids, iccids or vendor ids of a file, in bounded memory for a file of any size: adjacent numbers, which a
// fleet usually has, take little more than a bit each. Used by card-import.ts to find duplicate rows.

/** Numbers with the same leading digits share a page of this many. */
const PAGE_DIGITS = 5;
const DIGITS = /^\d+$/;
const PAGE_BYTES = 10 ** PAGE_DIGITS / 8;
/** A page with more numbers becomes a bitmap. */
const MOST_LOOSE_IN_A_PAGE = 256;

interface Bounds {
  /** Number of bitmaps, 12.5 kB each. */
  readonly mostBitmaps: number;
  /** Number of numbers outside bitmaps, about 50 bytes each. */
  readonly mostLoose: number;
}

/** About 100 MB. A file that needs more has scattered numbers, and some duplicates go unnoticed. */
const USUAL_BOUNDS: Bounds = { mostBitmaps: 6_000, mostLoose: 500_000 };

export class SeenNumbers {
  readonly #pages = new Map<string, Set<number> | Uint8Array>();
  #bitmaps = 0;
  #loose = 0;

  constructor(private readonly bounds = USUAL_BOUNDS) {}

  /** @returns whether the number, in digits, or the text has come before. */
  has(digits: string): boolean {
    const { key, rest } = placeOf(digits);
    const page = this.#pages.get(key);
    if (page instanceof Uint8Array) return isMarked(page, rest);
    return page?.has(rest) === true;
  }

  /** @returns whether the number, in digits, or the text has come before. */
  add(digits: string): boolean {
    const { key, rest } = placeOf(digits);
    const page = this.#pages.get(key);
    if (page instanceof Uint8Array) return mark(page, rest);
    if (page?.has(rest)) return true;
    if (page !== undefined && page.size >= MOST_LOOSE_IN_A_PAGE && this.#bitmaps < this.bounds.mostBitmaps) {
      this.#condense(key, page, rest);
    } else if (this.#loose < this.bounds.mostLoose) {
      this.#loose += 1;
      if (page === undefined) this.#pages.set(key, new Set([rest]));
      else page.add(rest);
    }
    return false;
  }

  #condense(key: string, page: Set<number>, rest: number): void {
    const bitmap = new Uint8Array(PAGE_BYTES);
    for (const one of page) mark(bitmap, one);
    mark(bitmap, rest);
    this.#pages.set(key, bitmap);
    this.#loose -= page.size;
    this.#bitmaps += 1;
  }
}

function placeOf(digits: string): { readonly key: string; readonly rest: number } {
  const end = digits.slice(-PAGE_DIGITS);
  // The page of a text that does not end in a number has no other entry.
  if (!DIGITS.test(end)) return { key: `text ${digits}`, rest: 0 };
  const rest = Number(end);
  return { key: `${digits.length} ${digits.slice(0, -PAGE_DIGITS)}`, rest };
}

/** @returns whether it was marked before. */
function mark(bitmap: Uint8Array, position: number): boolean {
  const before = isMarked(bitmap, position);
  const byte = position >> 3;
  bitmap[byte] = (bitmap[byte] ?? 0) | (1 << (position & 7));
  return before;
}

function isMarked(bitmap: Uint8Array, position: number): boolean {
  return ((bitmap[position >> 3] ?? 0) & (1 << (position & 7))) !== 0;
}
