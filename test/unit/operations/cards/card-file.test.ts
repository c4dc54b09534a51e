import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { CARD_DEFAULTS, IMPORT_FIELDS, RowProblem } from '../../../../src/domain/cards/card.ts';
import { exportCards, rowReader } from '../../../../src/operations/cards/card-file.ts';
import { type RawRow, toCardImport } from '../../../../src/operations/cards/import-columns.ts';
import { readLines } from '../../../../src/operations/cards/import-lines.ts';
import { snakeCase } from '../../../../src/platform/snake-keys.ts';
import type { ImportFormat } from '../../../../src/resources/cards.ts';

const ICCID = '89860000000000000001';

/** Reads lines one after the other, as the first ones of a file. */
function lineReader(format: ImportFormat, ignored: Set<string> | null = null) {
  const reader = rowReader(format, ignored);
  let number = 0;
  return (text: string) => {
    number += 1;
    return reader.read({ number, text });
  };
}

async function linesOf(...pieces: (string | Buffer)[]) {
  const lines = [];
  for await (const some of readLines(Readable.from(pieces))) lines.push(...some);
  return lines;
}

describe('readLines', () => {
  it('numbers lines across pieces and takes LF, CRLF and a missing last end', async () => {
    const lines = await linesOf('a\r\nb', 'c\n', '\n', 'd');
    expect(lines).toEqual([
      { number: 1, text: 'a' },
      { number: 2, text: 'bc' },
      { number: 3, text: '' },
      { number: 4, text: 'd' },
    ]);
    expect(await linesOf('a\n')).toEqual([{ number: 1, text: 'a' }]);
    expect(await linesOf()).toEqual([]);
  });

  it('joins characters cut by a piece, and drops a byte order mark', async () => {
    const bytes = Buffer.from('\uFEFFé\n世\n');
    expect(await linesOf(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual([
      { number: 1, text: 'é' },
      { number: 2, text: '世' },
    ]);
  });

  it('marks lines over 64 KiB and goes on after them', async () => {
    const long = 'x'.repeat(40_000);
    const tooLong = { number: 2, text: null, start: `${long}${'x'.repeat(25_536)}`, hasQuotes: false };
    expect(await linesOf('a\n', long, long, long, long, '\nb')).toEqual([
      { number: 1, text: 'a' },
      tooLong,
      { number: 3, text: 'b' },
    ]);
    expect(await linesOf(`a\n${long}${long}\nb\n`)).toContainEqual(tooLong);
    expect(await linesOf('a\n', long, long)).toContainEqual(tooLong);
    expect((await linesOf(`${'x'.repeat(64 * 1024)}\n`))[0]?.text).not.toBeNull();
    expect((await linesOf('x'.repeat(64 * 1024), '\n'))[0]?.text).not.toBeNull();
    expect(await linesOf(long, long, long, '"\nb\nc')).toEqual([
      { ...tooLong, number: 1, hasQuotes: true },
      { number: 2, text: 'b' },
      { number: 3, text: 'c' },
    ]);
  });

  it.each([
    ['utf-16le', (text: string) => Buffer.from(text, 'utf16le')],
    ['utf-16be', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])('reads %s with a byte order mark, in pieces of any size', async (_, encode) => {
    const bytes = encode('\uFEFFcard_id\r\n世🙂\n');
    const expected = [{ text: 'card_id' }, { text: '世🙂' }];
    expect(await linesOf(bytes)).toMatchObject(expected);
    expect(await linesOf(...[...bytes].map((byte) => Buffer.from([byte])))).toMatchObject(expected);
  });

  it('keeps a byte order mark that is not the first of the file', async () => {
    expect(await linesOf('\uFEFFa\n\uFEFFb\n')).toMatchObject([{ text: 'a' }, { text: '\uFEFFb' }]);
  });
});

describe('CSV rows', () => {
  const read = (header: string, line: string) => {
    const reader = lineReader('csv');
    expect(reader(header)).toBeNull();
    return reader(line);
  };

  it.each([
    ['semicolons', 'card_id;iccid;carrier_id', `1;${ICCID};2`],
    ['tabs', 'card_id\ticcid\tcarrier_id', `1\t${ICCID}\t2`],
    ['semicolons and quotes', '"card_id";"iccid";"carrier_id"', `"1";"${ICCID}";"2"`],
    ['a formula', 'card_id,iccid,carrier_id', `1,="${ICCID}",2`],
    ['a formula in quotes', 'card_id;iccid;carrier_id', `1;"=""${ICCID}""";2`],
    ['apostrophes', 'card_id,iccid,carrier_id', `'1,'${ICCID},"'2"`],
  ])('reads what a spreadsheet writes: %s', (_, header, line) => {
    expect(read(header, line)).toEqual({ card_id: '1', iccid: ICCID, carrier_id: '2' });
  });

  it.each(['sep=;', '"sep=|"', 'SEP=\t'])('takes the separator from a first line %j', (named) => {
    const [separator = ''] = /[;|\t]/.exec(named) ?? [];
    const reader = lineReader('csv');
    expect(reader(named)).toBeNull();
    expect(reader(`card_id${separator}iccid`)).toBeNull();
    expect(reader(`1${separator}${ICCID}`)).toEqual({ card_id: '1', iccid: ICCID });
  });

  it('skips rows without any value', () => {
    expect(read('card_id,iccid,status', ',,')).toBeNull();
    expect(read('card_id;iccid;status', ' ; "" ;')).toBeNull();
  });

  it.each(['PK\x03\x04\x14\0\x06\0[Content_Types].xml', '\x1f\ufffd\b\0'])(
    'names what is no text: %j',
    (line) => {
      expect(() => lineReader('csv')(line)).toThrow('it is a workbook (.xlsx, .ods) or packed');
    },
  );

  it('names UTF-16 without a byte order mark', () => {
    expect(() => lineReader('csv')('c\0a\0r\0d\0')).toThrow('UTF-16');
  });

  it('takes columns in any order, with blanks and quotes', () => {
    const expected = { iccid: ICCID, card_id: '7', status: '2' };
    expect(read('iccid,card_id,status', `${ICCID},7,2`)).toEqual(expected);
    expect(read(' iccid , "card_id" ,status', ` "${ICCID}" , 7 , "2" `)).toEqual(expected);
    expect(read('card_id,iccid', '1,"a,""b"')).toEqual({ card_id: '1', iccid: 'a,"b' });
    expect(read('card_id,iccid', ' 1 , "a,b" ')).toEqual({ card_id: '1', iccid: 'a,b' });
    expect(read('card_id,iccid', '" 1 ",""')).toEqual({ card_id: '1', iccid: '' });
    expect(read('card_id,iccid', '1,\u3000"a,b"')).toEqual({ card_id: '1', iccid: 'a,b' });
    expect(read('card_id,iccid', '  ')).toBeNull();
  });

  it.each([
    ['1,2"x', 'the quotes do not match'],
    ['1,2"', 'the quotes do not match'],
    ['1', '1 fields instead of 2'],
    ['1,2,3', '3 fields instead of 2'],
  ])('reports %j', (line, message) => {
    expect(() => read('card_id,iccid', line)).toThrow(message);
  });

  it.each([
    ['card_id,iccid,colour', "unknown column 'colour'"],
    ['card_id,iccid,', "unknown column ''"],
    ['card_id,status', "column 'iccid' is missing"],
    ['card_id,iccid,card_id', "column 'card_id' appears twice"],
    ['card_id,ic"cid', 'the quotes do not match'],
    [`1,${ICCID}`, "unknown column '1'"],
  ])('refuses the whole file for the header %j', (header, message) => {
    expect(() => lineReader('csv')(header)).toThrow(
      expect.objectContaining({ kind: 'bad_data', message: expect.stringContaining(message) }),
    );
  });

  it('says in full what is wrong with a header, and which columns there are', () => {
    expect(() => lineReader('csv')('iccid')).toThrow(
      expect.objectContaining({
        code: 'bad_import_header',
        message: "the header line is wrong: column 'card_id' is missing (it has 'iccid')",
        hint:
          `The columns are ${IMPORT_FIELDS.map(snakeCase).join(', ')}; ` +
          'card_id and iccid are required. You choose the card_id, a number for each card. --ignore-columns ignores all others.',
      }),
    );
  });
});

describe('NDJSON rows', () => {
  it('takes objects and skips empty lines', () => {
    const reader = lineReader('ndjson');
    expect(reader(`{"card_id": 1, "iccid": "${ICCID}"}`)).toEqual({ card_id: 1, iccid: ICCID });
    expect(reader(' ')).toBeNull();
    expect(reader('{"iccid": "\\": \\":"}'), 'which looks like more fields').toEqual({ iccid: '": ":' });
  });

  it.each([
    ['{"card_id": 1', 'not valid JSON'],
    ['null', 'not a JSON object'],
    ['7', 'not a JSON object'],
    ['{"card_id":1,"colour":2}', "unknown field 'colour' (--ignore-columns ignores it)"],
    ['{"card_id":1,"card_id" \t: 2}', 'the row has the field "card_id" twice'],
  ])('reports %j', (line, message) => {
    expect(() => lineReader('ndjson')(line)).toThrow(message);
  });
});

describe('toCardImport', () => {
  const card = (fields: Record<string, unknown> = {}) =>
    toCardImport({ card_id: '1', iccid: ICCID, ...fields });

  it('fills in what a row leaves out', () => {
    const expected = {
      cardId: 1,
      iccid: ICCID,
      carrierId: 0,
      status: 1,
      allowanceMb: null,
      vendorId: null,
      realNameVerified: null,
    };
    expect(card()).toMatchObject(expected);
    const columns = ['carrier_id', 'status', 'allowance_mb', 'real_name_verified'];
    for (const empty of ['', null])
      expect(card(Object.fromEntries(columns.map((column) => [column, empty])))).toEqual(card());
  });

  it('takes text and JSON values alike', () => {
    const expected = { carrierId: 3, status: -2, allowanceMb: 0.5, realNameVerified: true };
    expect(
      card({ carrier_id: '3', status: '-2', allowance_mb: '.5', real_name_verified: 'TRUE' }),
    ).toMatchObject(expected);
    expect(card({ carrier_id: 3, status: -2, allowance_mb: 0.5, real_name_verified: true })).toMatchObject(
      expected,
    );
    for (const yes of ['1', 1, 'yes', 'Yes'])
      expect(card({ real_name_verified: yes }).realNameVerified).toBe(true);
    for (const no of ['0', 0, 'no', 'False'])
      expect(card({ real_name_verified: no }).realNameVerified).toBe(false);
    expect(card({ card_id: '9007199254740991' }).cardId).toBe(Number.MAX_SAFE_INTEGER);
    expect(card({ allowance_mb: '1e3' }).allowanceMb).toBe(1000);
    expect(card({ allowance_mb: 0 }).allowanceMb).toBe(0);
  });

  it.each([
    ['card_id', ''],
    ['card_id', '0'],
    ['card_id', '-1'],
    ['card_id', '1.5'],
    ['card_id', '1e3'],
    ['card_id', '0x10'],
    ['card_id', '9007199254740992'],
    ['card_id', 9007199254740992],
    ['card_id', true],
    ['card_id', '12345678901234567890123'],
    ['iccid', ''],
    ['iccid', '1'.repeat(17)],
    ['iccid', '1'.repeat(23)],
    ['iccid', '8986000000000000000x'],
    ['iccid', Number('89860000000000000001')],
    ['carrier_id', '2147483648'],
    ['carrier_id', 'x'],
    ['status', '1.0'],
    ['allowance_mb', '-1'],
    ['allowance_mb', 'NaN'],
    ['allowance_mb', 'Infinity'],
    ['allowance_mb', '1e999'],
    ['allowance_mb', '10 MB'],
    ['allowance_mb', true],
    ['real_name_verified', 'maybe'],
    ['real_name_verified', 2],
  ])('refuses %s %j and names the column', (column, value) => {
    expect(() => card({ [column]: value })).toThrow(column);
  });

  it('does not echo long values', () => {
    expect(() => card({ status: 'x'.repeat(5_000) })).toThrow(/^.{1,120}$/);
  });
});

// The bounds of the columns, and the messages for the author of a file.
describe('the fields of a row', () => {
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
    [{ allowance_mb: '1024,5' }, { allowanceMb: 1_024.5 }],
    [{ allowance_mb: ',250' }, { allowanceMb: 0.25 }],
    [{ allowance_mb: '12.345.678,9' }, { allowanceMb: 12_345_678.9 }],
    [{ vendor_id: 'SIM 7/ü\\' }, { vendorId: 'SIM 7/ü\\' }],
    [{ vendor_id: 4711 }, { vendorId: '4711' }],
    [{ vendor_id: '' }, { vendorId: null }],
    [{ vendor_id: '-' }, { vendorId: '-' }],
    [{ vendor_id: 'NV' }, { vendorId: 'NV' }],
    [{ vendor_id: 'NA-12' }, { vendorId: 'NA-12' }],
    [{ vendor_id: '#12' }, { vendorId: '#12' }],
    [{ vendor_id: 'Nullarbor' }, { vendorId: 'Nullarbor' }],
    [{ vendor_id: '10.0.0.1' }, { vendorId: '10.0.0.1' }],
    [{ vendor_id: '😀'.repeat(64) }, { vendorId: '😀'.repeat(64) }],
  ])('takes %j', (fields, read) => {
    expect(card(fields)).toMatchObject(read);
  });

  describe('refuses, and says why', () => {
    const noCardId = 'is not an integer from 1 to 9007199254740991';
    const noNumber = 'is not an integer from -2147483648 to 2147483647';
    const noIccid = 'is not 18 to 22 digits';
    const noMegabytes = 'is not a number of megabytes (0 or more)';
    const noVendorId = 'is not 1 to 64 printable characters';
    const noBoolean = 'is not true, false, yes, no, 1 or 0';

    it.each<[RawRow, string]>([
      [{ vendor_id: 'x'.repeat(65) }, `vendor_id '${'x'.repeat(40)}...' ${noVendorId}`],
      [{ vendor_id: ' a' }, `vendor_id ' a' ${noVendorId}`],
      [{ vendor_id: 'a\u202eb' }, `vendor_id 'a?b' ${noVendorId}`],
      [{ vendor_id: '..' }, `vendor_id '..' ${noVendorId}`],
      [{ vendor_id: true }, `vendor_id 'true' ${noVendorId}`],
      [{ vendor_id: 2 ** 53 }, 'vendor_id must be a string: a JSON number loses its last digits'],
      [
        { vendor_id: '1.23457E+11' },
        "vendor_id '1.23457E+11' was shortened by a spreadsheet: format the column as text",
      ],
      ...[
        'nan',
        '-NaN',
        '#N/A',
        '#n/d',
        '#NV',
        '#REF!',
        '#NAME?',
        '#WERT!',
        'null',
        '(null)',
        '\\N',
        'n/a',
        'N.A.',
        '<NA>',
        'None',
        'nil',
        'undefined',
        '无',
        '—',
        '--',
        '?',
      ].map((text): [RawRow, string] => [
        { vendor_id: text },
        `vendor_id '${text}' means no value: leave it empty, or write - to remove the stored one`,
      ]),
      ...['3125550206.0', '4711,00'].map((text): [RawRow, string] => [
        { vendor_id: text },
        `vendor_id '${text}' was made a number by a spreadsheet or a program: format the column as text`,
      ]),
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
      [{ allowance_mb: '1,2,3' }, `allowance_mb '1,2,3' ${noMegabytes}`],
      [{ allowance_mb: '0,' }, `allowance_mb '0,' ${noMegabytes}`],
      [
        { allowance_mb: '+12,345' },
        "allowance_mb '+12,345' is 12345 with ',' between thousands, or 12.345 with ',' as its decimal mark",
      ],
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
});

// An export is the text of an import: what a field holds survives both.
describe('an export', () => {
  const FILTER = { carrierId: null, status: null, stopped: null, vendorId: null };
  const ICCID = '89860000000000000001';

  async function exported(iccid: string, format: 'csv' | 'ndjson', allowanceMb = 0.5): Promise<string[]> {
    const card = {
      ...CARD_DEFAULTS,
      cardId: 1,
      iccid,
      allowanceMb,
      vendorId: null,
      realNameVerified: true,
      stopped: false,
    };
    const cards = { list: async () => ({ cards: [card], nextAfterId: null }) };
    return (await text(exportCards(cards, FILTER, format))).trimEnd().split('\n');
  }

  it.each(['csv', 'ndjson'] as const)('reads back what it wrote as %s', async (format) => {
    const read = lineReader(format);
    const rows = (await exported(ICCID, format)).map(read).filter((row) => row !== null);
    expect(rows.map(toCardImport)).toEqual([
      { ...CARD_DEFAULTS, cardId: 1, iccid: ICCID, allowanceMb: 0.5, realNameVerified: true },
    ]);
  });

  it.each([
    [1.024, '1.0240'],
    [999.001, '999.0010'],
    [0.024, '0.024'],
    [1_024.125, '1024.125'],
    [1_024, '1024'],
  ])('writes %d as %s, which has one meaning', async (allowanceMb, text) => {
    const [, row] = (await exported(ICCID, 'csv', allowanceMb)).map(lineReader('csv'));
    expect(row?.allowance_mb).toBe(text);
    expect(toCardImport(row as RawRow)).toMatchObject({ allowanceMb });
  });

  it.each(['with "quotes"', 'with, a comma'])('keeps a text %s in one field of CSV', async (iccid) => {
    const read = lineReader('csv');
    const [, row] = (await exported(iccid, 'csv')).map(read);
    expect(row?.iccid).toBe(iccid);
  });
});
