// One row of an import: the bounds of its columns, and the messages for its author.
import { describe, expect, it } from 'vitest';
import { RowProblem } from '../../../../src/domain/cards/card-import.ts';
import { type RawRow, toCardImport } from '../../../../src/operations/cards/card-import-row.ts';

const ICCID = '89860000000000000001';
const card = (fields: RawRow) => toCardImport({ card_id: '1', iccid: ICCID, ...fields });

function problemOf(fields: RawRow): string {
  try {
    card(fields);
  } catch (error) {
    if (error instanceof RowProblem) return error.message;
    throw error;
  }
  return 'none';
}

it.each([
  [{ card_id: '+1' }, { cardId: 1 }],
  [{ card_id: '0000000000000007' }, { cardId: 7 }],
  [{ iccid: '1'.repeat(18) }, { iccid: '1'.repeat(18) }],
  [{ iccid: '1'.repeat(22) }, { iccid: '1'.repeat(22) }],
  [{ carrier_id: '-2147483648' }, { carrierId: -(2 ** 31) }],
  [{ status: '2147483647' }, { status: 2 ** 31 - 1 }],
  [{ allowance_mb: '+12.25' }, { allowanceMb: 12.25 }],
  [{ allowance_mb: '12.' }, { allowanceMb: 12 }],
  [{ allowance_mb: '.25' }, { allowanceMb: 0.25 }],
  [{ allowance_mb: '25E-1' }, { allowanceMb: 2.5 }],
  [{ allowance_mb: '1e+003' }, { allowanceMb: 1_000 }],
])('takes %j', (fields, read) => {
  expect(card(fields)).toMatchObject(read);
});

describe('refuses, and says why', () => {
  const noCardId = 'is not an integer from 1 to 9007199254740991';
  const noNumber = 'is not an integer from -2147483648 to 2147483647';
  const noIccid = 'is not 18 to 22 digits';
  const noMegabytes = 'is not a number of megabytes (0 or more)';
  const noBoolean = 'is not true, false, yes, no, 1 or 0';

  it.each<[RawRow, string]>([
    [{ card_id: '' }, 'card_id is missing'],
    [{ card_id: undefined }, 'card_id is missing'],
    [{ card_id: 'x1' }, `card_id 'x1' ${noCardId}`],
    [{ card_id: '1x' }, `card_id '1x' ${noCardId}`],
    [{ card_id: '0' }, `card_id '0' ${noCardId}`],
    [{ card_id: `${'0'.repeat(16)}7` }, `card_id '${'0'.repeat(16)}7' ${noCardId}`],
    [{ card_id: [1] }, `card_id [...] ${noCardId}`],
    [{ card_id: { id: 1 } }, `card_id {...} ${noCardId}`],
    [{ iccid: null }, 'iccid is missing'],
    [{ iccid: 8.986e19 }, 'iccid must be a string: a JSON number loses its last digits'],
    [{ iccid: `x${ICCID}` }, `iccid 'x${ICCID}' ${noIccid}`],
    [{ iccid: `${ICCID}x` }, `iccid '${ICCID}x' ${noIccid}`],
    [{ iccid: `${ICCID}F` }, `iccid '${ICCID}F' ${noIccid}: leave out the F at its end`],
    [{ iccid: true }, `iccid 'true' ${noIccid}`],
    [{ carrier_id: '-2147483649' }, `carrier_id '-2147483649' ${noNumber}`],
    [{ status: 2 ** 31 }, `status '2147483648' ${noNumber}`],
    [{ status: 1.5 }, `status '1.5' ${noNumber}`],
    [{ allowance_mb: -0.5 }, `allowance_mb '-0.5' ${noMegabytes}`],
    [{ allowance_mb: 'x5' }, `allowance_mb 'x5' ${noMegabytes}`],
    [{ allowance_mb: '5x' }, `allowance_mb '5x' ${noMegabytes}`],
    [{ allowance_mb: '.' }, `allowance_mb '.' ${noMegabytes}`],
    [{ allowance_mb: '1e0003' }, `allowance_mb '1e0003' ${noMegabytes}`],
    [{ real_name_verified: 'maybe' }, `real_name_verified 'maybe' ${noBoolean}`],
    [{ real_name_verified: ['yes'] }, `real_name_verified [...] ${noBoolean}`],
  ])('%j', (fields, message) => {
    expect(problemOf(fields)).toBe(message);
  });

  it('quoting what is there up to its fortieth character', () => {
    const forty = 'x'.repeat(40);
    expect(problemOf({ status: forty })).toBe(`status '${forty}' ${noNumber}`);
    expect(problemOf({ status: `${forty}y` })).toBe(`status '${forty}...' ${noNumber}`);
    expect(problemOf({ status: '\u001b[1m\u2028' })).toBe(`status '?[1m?' ${noNumber}`);
  });
});
