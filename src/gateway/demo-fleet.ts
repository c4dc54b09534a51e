// The fleet of `cardpoll demo` and of the benches: made-up cards, with every field derived from the card id.
import { CARD_DEFAULTS, type CardImport } from '../domain/cards/card-import.ts';

const CARRIERS = 3;
const ALLOWANCE_MB = 10_240;
/** One card in a hundred has this allowance: at the simulator about half of these have used more, and are stopped. */
const SMALL_ALLOWANCE_MB = 256;
const SMALL_EVERY = 100;

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
