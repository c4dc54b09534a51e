// Made-up cards: the fleet of `cardpoll demo` and of the benches, and the cards of the simulated gateway. Everything follows from
// a hash of the iccid and the number of polls of the card, so a card costs two small numbers, and two runs over the same calls
// give the same answers. Used by simulator.ts; no HTTP here.

import { CARD_DEFAULTS, type CardImport } from '../../domain/cards/card.ts';
import { luhnDigit } from '../../domain/cards/iccid.ts';
import { mix32 } from '../../domain/schedule/phase.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** A Map has room for 16 million cards, and the simulator serves up to 100 million. */
const MAPS = 16;
/** Cards have used 0 to 511 MB at their first poll; every change adds half a MB. */
const BASE_MB = 512;
const STEP_MB = 0.5;
const NOT_VERIFIED_ONE_IN = 10;
const CARRIERS = 3;
const ALLOWANCE_MB = 10_240;
/** Allowance of one card in a hundred. At the simulator about half of these have used more, and are stopped. */
const SMALL_ALLOWANCE_MB = 256;
const SMALL_EVERY = 100;

/** 32 bits. Cards that collide (one in a thousand at ten million) share only their flow counter. */
function hashOf(iccid: string): number {
  let h = FNV_OFFSET;
  for (let i = 0; i < iccid.length; i += 1) h = Math.imul(h ^ iccid.charCodeAt(i), FNV_PRIME);
  return mix32(h);
}

/** Whether the card is one of the odd cards of `kind`, one in `n`; always the same cards. @param n absent: none. */
export function isOneIn(n: number | undefined, iccid: string, kind: number): boolean {
  return n !== undefined && mix32(hashOf(iccid) ^ kind) % n === 0;
}

export class SimulatedFleet {
  /** Number of reads of each card, by its hash as a signed number: most unsigned 32-bit numbers would be objects. */
  readonly #reads = Array.from({ length: MAPS }, () => new Map<number, number>());
  #known = 0;
  readonly #stopped = new Set<string>();
  /** Number of stop calls for each card, including calls for a stopped card. */
  readonly stops = new Map<string, number>();
  readonly starts = new Map<string, number>();

  /**
   * @param cards number of cards that the gateway serves, in the order of their first call. null: any number.
   * @param changeRate share of flow reads that show more usage than the previous read, 0 to 1.
   */
  constructor(
    private readonly cards: number | null,
    private readonly changeRate: number,
  ) {}

  knows(iccid: string): boolean {
    const hash = hashOf(iccid);
    const reads = this.#readsLike(hash);
    if (reads.has(hash | 0)) return true;
    if (this.#known === this.cards) return false;
    this.#known += 1;
    reads.set(hash | 0, 0);
    return true;
  }

  /** True for nine cards in ten, and always the same for one card. */
  realStatus(iccid: string): boolean {
    return mix32(hashOf(iccid) ^ 0x5eed) % NOT_VERIFIED_ONE_IN !== 0;
  }

  /** MB used; never decreases, and does not change while the card is stopped. */
  readUsed(iccid: string): number {
    const hash = hashOf(iccid);
    const counts = this.#readsLike(hash);
    const reads = counts.get(hash | 0) ?? 0;
    if (!this.#stopped.has(iccid)) counts.set(hash | 0, reads + 1);
    // Every card starts at another point of its cycle, so each round over the fleet shows the same share of changes.
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

  #readsLike(hash: number): Map<number, number> {
    return this.#reads[hash % MAPS] as Map<number, number>;
  }
}

/** The ICCID of a demo card: 20 digits, 8986 + the id in 15 digits + check digit. */
export function demoIccid(cardId: number): string {
  const digits = `8986${String(cardId).padStart(15, '0')}`;
  return `${digits}${luhnDigit(digits)}`;
}

/** Cards 1 to `count`, ready to import. Polling finds out whether they are verified. */
export function* demoCards(count: number): Generator<CardImport> {
  for (let cardId = 1; cardId <= count; cardId += 1) {
    // Object.assign, because a spread is much slower here: a fleet has ten million cards.
    yield Object.assign({}, CARD_DEFAULTS, {
      cardId,
      iccid: demoIccid(cardId),
      carrierId: 1 + (cardId % CARRIERS),
      allowanceMb: cardId % SMALL_EVERY === 0 ? SMALL_ALLOWANCE_MB : ALLOWANCE_MB,
    });
  }
}
