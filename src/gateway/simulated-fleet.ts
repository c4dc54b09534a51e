// Made-up cards: the fleet of `cardpoll demo` and of the benches, and the cards of the simulated gateway. There everything
// follows from a hash of the iccid and from how often the card was polled, so ten million cards cost 8 bytes each and two
// runs over the same calls give the same answers. Used by simulator.ts; no HTTP here.

import { CARD_DEFAULTS, type CardImport } from '../domain/cards/card.ts';
import { mix32 } from '../domain/schedule/phase.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const MAX_LOAD = 0.7;
const FIRST_CAPACITY = 1 << 16;
/** Cards have used 0 to 511 MB at their first poll; every change adds half a MB. */
const BASE_MB = 512;
const STEP_MB = 0.5;
const NOT_VERIFIED_ONE_IN = 10;
const CARRIERS = 3;
const ALLOWANCE_MB = 10_240;
/** One card in a hundred has this allowance: at the simulator about half of these have used more, and are stopped. */
const SMALL_ALLOWANCE_MB = 256;
const SMALL_EVERY = 100;

/** 32 bits, never 0. Cards that collide (one in a thousand at ten million) share only their flow counter. */
function hashOf(iccid: string): number {
  let h = FNV_OFFSET;
  for (let i = 0; i < iccid.length; i += 1) h = Math.imul(h ^ iccid.charCodeAt(i), FNV_PRIME);
  return mix32(h) || 1;
}

/** Whether the card is of the `kind` that one card in `n` is; always the same cards. @param n absent: no card is. */
export function isOneIn(n: number | undefined, iccid: string, kind: number): boolean {
  return n !== undefined && mix32(hashOf(iccid) ^ kind) % n === 0;
}

/** Counts reads per card: an open-addressing table of 32-bit hashes that doubles when it fills up. */
class ReadCounters {
  #keys: Uint32Array;
  #reads: Uint32Array;
  #size = 0;

  /** @param limit maximum number of cards; Infinity for no limit. */
  constructor(private readonly limit: number) {
    const wanted = Number.isFinite(limit) ? limit / MAX_LOAD + 1 : FIRST_CAPACITY;
    const capacity = 2 ** Math.ceil(Math.log2(wanted));
    this.#keys = new Uint32Array(capacity);
    this.#reads = new Uint32Array(capacity);
  }

  /** The slot of a card, which is added if there is room; -1 when the limit is reached. */
  slotOf(hash: number): number {
    const slot = this.#probe(hash);
    if (this.#keys[slot] === hash) return slot;
    if (this.#size >= this.limit) return -1;
    if (this.#size >= this.#keys.length * MAX_LOAD) {
      this.#grow();
      return this.slotOf(hash);
    }
    this.#keys[slot] = hash;
    this.#size += 1;
    return slot;
  }

  /** Counts one read. @returns the reads before it. */
  count(slot: number): number {
    const before = this.reads(slot);
    this.#reads[slot] = before + 1;
    return before;
  }

  reads(slot: number): number {
    return this.#reads[slot] ?? 0;
  }

  #probe(hash: number): number {
    const mask = this.#keys.length - 1;
    let slot = hash & mask;
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const reads = this.#reads;
    this.#keys = new Uint32Array(keys.length * 2);
    this.#reads = new Uint32Array(keys.length * 2);
    for (let old = 0; old < keys.length; old += 1) {
      const hash = keys[old] ?? 0;
      if (hash === 0) continue;
      const slot = this.#probe(hash);
      this.#keys[slot] = hash;
      this.#reads[slot] = reads[old] ?? 0;
    }
  }
}

export class SimulatedFleet {
  readonly #counters: ReadCounters;
  readonly #stopped = new Set<string>();
  /** How often each card was stopped, also when it was stopped before. */
  readonly stops = new Map<string, number>();
  readonly starts = new Map<string, number>();

  /**
   * @param cards the number of cards that the gateway serves, in the order of their first call. null: any number.
   * @param changeRate share of flow reads that show more usage than the read before, 0 to 1.
   */
  constructor(
    cards: number | null,
    private readonly changeRate: number,
  ) {
    this.#counters = new ReadCounters(cards ?? Number.POSITIVE_INFINITY);
  }

  knows(iccid: string): boolean {
    return this.#counters.slotOf(hashOf(iccid)) >= 0;
  }

  /** True for nine cards in ten, and always the same for one card. */
  realStatus(iccid: string): boolean {
    return mix32(hashOf(iccid) ^ 0x5eed) % NOT_VERIFIED_ONE_IN !== 0;
  }

  /** MB used; never decreases, and does not change while the card is stopped. */
  readUsed(iccid: string): number {
    const hash = hashOf(iccid);
    const slot = this.#counters.slotOf(hash);
    const reads = this.#stopped.has(iccid) ? this.#counters.reads(slot) : this.#counters.count(slot);
    // Every card starts at another point of its cycle, so every round over the fleet shows the same share of changes.
    const phase = (hash >>> 8) / 0x100_0000;
    return (mix32(hash) % BASE_MB) + STEP_MB * Math.floor(reads * this.changeRate + phase);
  }

  cardStatus(iccid: string): 'active' | 'stopped' {
    return this.#stopped.has(iccid) ? 'stopped' : 'active';
  }

  stop(iccid: string): void {
    this.#stopped.add(iccid);
    this.stops.set(iccid, (this.stops.get(iccid) ?? 0) + 1);
  }

  start(iccid: string): void {
    this.#stopped.delete(iccid);
    this.starts.set(iccid, (this.starts.get(iccid) ?? 0) + 1);
  }
}

/** Luhn check digit of a string of digits (ISO/IEC 7812-1), as ICCIDs carry it. */
function luhnDigit(digits: string): number {
  let sum = 0;
  for (let i = digits.length - 1, double = true; i >= 0; i -= 1, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    const value = double ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return (10 - (sum % 10)) % 10;
}

/** The ICCID of a demo card: 20 digits, 8986 + the id in 15 digits + check digit. */
export function demoIccid(cardId: number): string {
  const digits = `8986${String(cardId).padStart(15, '0')}`;
  return `${digits}${luhnDigit(digits)}`;
}

/** Cards 1 to `count`, ready to import. Polling finds out whether they are verified. */
export function* demoCards(count: number): Generator<CardImport> {
  for (let cardId = 1; cardId <= count; cardId += 1) {
    // Not a spread, which is much slower here: a fleet has ten million cards.
    yield Object.assign({}, CARD_DEFAULTS, {
      cardId,
      iccid: demoIccid(cardId),
      carrierId: 1 + (cardId % CARRIERS),
      allowanceMb: cardId % SMALL_EVERY === 0 ? SMALL_ALLOWANCE_MB : ALLOWANCE_MB,
    });
  }
}
