// Finds the rows of an import that ask for an ICCID or a vendor id of another card. Cards may exchange them: a number is free if
// its card gives it up in the same rows, and that card's row is not refused.
import { type CardImport, NO_VENDOR_ID } from './card.ts';

/** An ICCID or a vendor id of a row that another card has. */
export interface HeldNumber {
  readonly taken: 'iccid' | 'vendor_id';
  readonly value: string;
  readonly holder: number;
  /** The holder's ICCID. If its row changes it, the holder also gives up a vendor id that the row does not name. */
  readonly holderIccid: string;
}

/** A refused row. */
export interface TakenNumber {
  readonly cardId: number;
  readonly taken: HeldNumber['taken'];
  readonly value: string;
  /** The card that has it; null: an earlier row gives it to its card. */
  readonly holder: number | null;
}

/**
 * @param rows card ids distinct
 * @param held the numbers of these rows that cards have
 * @returns the refused rows, in their order, with the first number that is taken
 */
export function takenNumbers(
  rows: readonly CardImport[],
  held: readonly HeldNumber[],
): readonly TakenNumber[] {
  const holders = new Map(held.map((number) => [keyOf(number), number]));
  const rowOf = new Map(rows.map((row) => [row.cardId, row]));
  const claimed = new Set<string>();
  const refused = new Map<number, TakenNumber>();
  /** The claims that depend on a card giving up a number, by that card. */
  const hanging = new Map<number, TakenNumber[]>();
  for (const row of rows) {
    for (const { taken, value } of numbersOf(row)) {
      const key = keyOf({ taken, value });
      const number = holders.get(key);
      const isFirst = !claimed.has(key);
      claimed.add(key);
      if (number?.holder === row.cardId) continue;
      const claim = { cardId: row.cardId, taken, value };
      if (number !== undefined && !givesUp(rowOf.get(number.holder), number))
        refuse({ ...claim, holder: number.holder });
      else if (!isFirst) refuse({ ...claim, holder: null });
      else if (number !== undefined) hang(number.holder, { ...claim, holder: number.holder });
    }
  }
  // A refused row gives up nothing, so the rows that depend on it are refused, too.
  for (const cardId of refused.keys()) for (const claim of hanging.get(cardId) ?? []) refuse(claim);
  return rows.flatMap(({ cardId }) => refused.get(cardId) ?? []);

  function refuse(claim: TakenNumber): void {
    if (!refused.has(claim.cardId)) refused.set(claim.cardId, claim);
  }

  function hang(holder: number, claim: TakenNumber): void {
    const claims = hanging.get(holder);
    if (claims === undefined) hanging.set(holder, [claim]);
    else claims.push(claim);
  }
}

function numbersOf({ iccid, vendorId }: CardImport): Array<Pick<HeldNumber, 'taken' | 'value'>> {
  const ofIccid = { taken: 'iccid', value: iccid } as const;
  if (vendorId === null || vendorId === NO_VENDOR_ID) return [ofIccid];
  return [ofIccid, { taken: 'vendor_id', value: vendorId }];
}

function keyOf({ taken, value }: Pick<HeldNumber, 'taken' | 'value'>): string {
  return `${taken} ${value}`;
}

/** @param row of the card that has the number; undefined: the card has no row, and keeps its numbers */
function givesUp(row: CardImport | undefined, { taken, value, holderIccid }: HeldNumber): boolean {
  if (row === undefined) return false;
  if (taken === 'iccid') return row.iccid !== value;
  return row.vendorId === null ? row.iccid !== holderIccid : row.vendorId !== value;
}
