// Who may have a number that another card has: exchanges, and the chains that break.
import { describe, expect, it } from 'vitest';
import type { CardImport } from '../../../../src/domain/cards/card.ts';
import { type HeldNumber, takenNumbers } from '../../../../src/domain/cards/taken-numbers.ts';

type Row = [cardId: number, iccid: string, vendorId?: string | null];

const fleet = new Map<number, [iccid: string, vendorId: string | null]>([
  [1, ['i1', 'v1']],
  [2, ['i2', 'v2']],
  [3, ['i3', 'v3']],
  [4, ['i4', null]],
]);

/** @returns the refused rows as "card: number of holder" */
function refused(...rows: Row[]): string[] {
  const imports = rows.map(([cardId, iccid, vendorId = null]) => ({ cardId, iccid, vendorId }) as CardImport);
  const held: HeldNumber[] = imports.flatMap((row) =>
    [...fleet].flatMap(([holder, [holderIccid, holderVendorId]]) => {
      if (holder === row.cardId) return [];
      const found: HeldNumber[] = [];
      if (holderIccid === row.iccid) found.push({ taken: 'iccid', value: row.iccid, holder, holderIccid });
      if (row.vendorId !== null && holderVendorId === row.vendorId)
        found.push({ taken: 'vendor_id', value: row.vendorId, holder, holderIccid });
      return found;
    }),
  );
  return takenNumbers(imports, held).map(({ cardId, value, holder }) => `${cardId}: ${value} of ${holder}`);
}

describe('a number of a row', () => {
  it.each<[string, Row[]]>([
    [
      'two cards that exchange',
      [
        [1, 'i2'],
        [2, 'i1'],
      ],
    ],
    [
      'three that pass theirs on',
      [
        [1, 'i2'],
        [2, 'i3'],
        [3, 'i1'],
      ],
    ],
    [
      'a chain whose last card gets a new one',
      [
        [9, 'i1'],
        [1, 'i2'],
        [2, 'i8'],
      ],
    ],
    [
      'the same chain, backwards',
      [
        [2, 'i8'],
        [1, 'i2'],
        [9, 'i1'],
      ],
    ],
    [
      'cards that exchange SIM and vendor id',
      [
        [1, 'i2', 'v2'],
        [2, 'i1', 'v1'],
      ],
    ],
    [
      'vendor ids alone',
      [
        [1, 'i1', 'v2'],
        [2, 'i2', 'v1'],
      ],
    ],
    [
      'a vendor id that is taken away',
      [
        [1, 'i1', '-'],
        [9, 'i9', 'v1'],
      ],
    ],
    [
      'a vendor id that goes with the former SIM',
      [
        [1, 'i8'],
        [9, 'i9', 'v1'],
      ],
    ],
    ['its own', [[1, 'i1', 'v1']]],
    ['a free one', [[9, 'i9', 'v9']]],
  ])('is given to %s', (_, rows) => {
    expect(refused(...rows)).toEqual([]);
  });

  it.each<[string, Row[], string[]]>([
    ['of a card without a row', [[9, 'i1']], ['9: i1 of 1']],
    [
      'of a card whose row keeps it',
      [
        [9, 'i1'],
        [1, 'i1'],
      ],
      ['9: i1 of 1'],
    ],
    [
      'of a card whose row is refused',
      [
        [9, 'i1'],
        [1, 'i2'],
        [2, 'i3'],
      ],
      ['9: i1 of 1', '1: i2 of 2', '2: i3 of 3'],
    ],
    [
      'of a card whose row is refused for its vendor id',
      [
        [9, 'i1'],
        [1, 'i8', 'v2'],
      ],
      ['9: i1 of 1', '1: v2 of 2'],
    ],
    [
      'that an earlier row has',
      [
        [8, 'i9'],
        [9, 'i9'],
      ],
      ['9: i9 of null'],
    ],
    [
      'that is given up, and that an earlier row has',
      [
        [8, 'i1'],
        [1, 'i7'],
        [9, 'i1'],
      ],
      ['9: i1 of null'],
    ],
    [
      'that a row keeps with its SIM',
      [
        [1, 'i1'],
        [9, 'i9', 'v1'],
      ],
      ['9: v1 of 1'],
    ],
    [
      'of a card that is refused by an earlier row',
      [
        [8, 'i9'],
        [1, 'i9'],
        [9, 'i1'],
      ],
      ['1: i9 of null', '9: i1 of 1'],
    ],
  ])('is refused %s', (_, rows, expected) => {
    expect(refused(...rows)).toEqual(expected);
  });

  it('takes time in proportion to the rows where a chain of ten thousand breaks', () => {
    const rows = Array.from(
      { length: 10_000 },
      (_, at) => ({ cardId: at, iccid: `i${at + 1}`, vendorId: null }) as CardImport,
    );
    const held = rows.map(
      ({ iccid, cardId }): HeldNumber => ({
        taken: 'iccid',
        value: iccid,
        holder: cardId + 1,
        holderIccid: iccid,
      }),
    );
    expect(takenNumbers(rows, held)).toHaveLength(10_000);
    expect(
      takenNumbers([...rows, { cardId: 10_000, iccid: 'free', vendorId: null } as CardImport], held),
    ).toEqual([]);
  });
});
