// The schedule is a function, not data: a card's place in its ring, and so its due times, follow from its id alone.
//
// The hash's HIGH bits choose the bucket, so a card keeps its phase (hash / 2^32 of the interval) when a ring grows
// to more buckets. Ids are hashed in blocks of eight: neighbours share a bucket, which lets initialisation add them
// in one command, while the spread of blocks over buckets stays even enough (see docs/decisions).

const BLOCK = 8;
const HASH_BITS = 32;

/** A small fleet's cards are spread over this many steps of the interval, not polled in bursts. */
export const MIN_BUCKETS = 1_024;
const MAX_BUCKETS = 1 << 22;
/** A bucket is planned for at most this many cards; Redis keeps up to 512 integers as an intset (5.3 bytes a card). */
const TARGET_BUCKET_CARDS = 200;
/** Past this average a ring is rebuilt with more buckets, before its sets stop being intsets. */
export const MAX_AVERAGE_BUCKET_CARDS = 350;

/** Spreads 32 bits over 32 bits (murmur3's finaliser). */
export function mix32(bits: number): number {
  let h = bits;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}

/** 32-bit hash of a card's block of ids, of both halves of the id. */
export function phaseHash(cardId: number): number {
  const block = Math.floor(cardId / BLOCK);
  return mix32((block >>> 0) ^ Math.imul(Math.floor(block / 0x1_0000_0000), 0x9e3779b1));
}

/** The bucket of a card in a ring of `buckets` (a power of two). */
export function bucketOf(cardId: number, buckets: number): number {
  return phaseHash(cardId) >>> (HASH_BITS - Math.log2(buckets));
}

/** The number of buckets for a ring that will hold `cards`: a power of two, at least MIN_BUCKETS. */
export function bucketsFor(cards: number): number {
  const wanted = Math.max(MIN_BUCKETS, cards / TARGET_BUCKET_CARDS);
  return Math.min(MAX_BUCKETS, 2 ** Math.ceil(Math.log2(wanted)));
}

/** A ring's clock: bucket index `n` (absolute, ever growing) is due at anchorMs + n * intervalMs / buckets. */
export interface RingClock {
  readonly buckets: number;
  readonly intervalMs: number;
  readonly anchorMs: number;
  /** Absolute index of the next bucket to move into the queue. */
  readonly cursor: number;
}

/** When the bucket at absolute index `index` is due, in epoch milliseconds. */
export function dueAt(ring: RingClock, index: number): number {
  return ring.anchorMs + (index * ring.intervalMs) / ring.buckets;
}

/** When a card of this ring is moved into the queue next, in epoch milliseconds; in the past while the ring lags. */
export function nextDueAt(ring: RingClock, cardId: number): number {
  const behind = ring.cursor % ring.buckets;
  const ahead = (bucketOf(cardId, ring.buckets) - behind + ring.buckets) % ring.buckets;
  return dueAt(ring, ring.cursor + ahead);
}
