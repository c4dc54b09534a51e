// Rows of CSV whose fields have line breaks, and files that are no CSV or not of cards: what is read, what is refused, and why.
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RowProblem } from '../../../../src/domain/cards/card.ts';
import { rowReader } from '../../../../src/operations/cards/card-file.ts';
import { readLines } from '../../../../src/operations/cards/import-lines.ts';

/** @returns the card ids by the line of their row, and the problems of rows as `line: message`. */
async function rowsOf(file: string | Buffer, { format = 'csv', ignores = true } = {}) {
  const reader = rowReader(format as 'csv', ignores ? new Set() : null);
  const [cards, problems]: [Array<readonly [number, unknown]>, string[]] = [[], []];
  for await (const lines of readLines(Readable.from([file]))) {
    for (const line of lines) {
      try {
        const row = reader.read(line);
        if (row !== null) cards.push([reader.rowLine, row.card_id]);
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error;
        problems.push(`${reader.rowLine}: ${error.message}`);
      }
    }
  }
  reader.end();
  return { cards, problems };
}

const HEADER = 'card_id,iccid,note';
const INNER = '212,89860622330044550212,old';

describe('a line break in quotes', () => {
  it.each([
    [
      'LF',
      `${HEADER}\n1,a,"was:\n${INNER}\nsince May"\n3,b,ok\n`,
      [
        [2, '1'],
        [5, '3'],
      ],
    ],
    [
      'CRLF and an empty line',
      `${HEADER}\r\n1,a,"was:\r\n\r\n${INNER}\r\n"\r\n3,b,ok\r\n`,
      [
        [2, '1'],
        [6, '3'],
      ],
    ],
    [
      'quotes that are written twice',
      `${HEADER}\n1,a,"he said ""hi"",\n${INNER}\n""bye"""\n3,b,\n`,
      [
        [2, '1'],
        [5, '3'],
      ],
    ],
    [
      'a quote alone in its line',
      `${HEADER}\n1,a,"\n${INNER}\n"\n3,b,\n`,
      [
        [2, '1'],
        [5, '3'],
      ],
    ],
    [
      'a field in the middle',
      `note,card_id,iccid\n"x\n${INNER}\ny" ,1,a\n,3,b\n`,
      [
        [2, '1'],
        [5, '3'],
      ],
    ],
    [
      'two fields of one row',
      `${HEADER},remark\n1,a,"x\n2,y,","\n4,z,,\n"\n3,b,,`,
      [
        [2, '1'],
        [6, '3'],
      ],
    ],
    [
      'semicolons and a formula',
      `card_id;iccid;note\n1;="8986";"a;b\nc"\n3;='8986;\n`,
      [
        [2, '1'],
        [4, '3'],
      ],
    ],
    [
      'tabs',
      `card_id\ticcid\tnote\n1\ta\t"x\ty\n2\tb\t"\n3\tc\t\n`,
      [
        [2, '1'],
        [4, '3'],
      ],
    ],
    [
      'a name of a column',
      `card_id,iccid,"note; of;\nours; too"\n1,a,b\n3,c,d`,
      [
        [3, '1'],
        [4, '3'],
      ],
    ],
    ['the last line, without an end', `${HEADER}\n1,a,"x\ny"`, [[2, '1']]],
  ])('belongs to its field: %s', async (_, file, cards) => {
    expect(await rowsOf(file)).toEqual({ cards, problems: [] });
    const wide = Buffer.from(`\uFEFF${file}`, 'utf16le');
    expect(await rowsOf(wide), 'in UTF-16').toEqual({ cards, problems: [] });
  });

  it('belongs to a field that is too long, too, and the rows after it are read', async () => {
    const note = `${'x'.repeat(30_000)}\n${INNER}\n`.repeat(4);
    expect(await rowsOf(`${HEADER}\n1,a,"${note}"\n3,b,ok\n`)).toEqual({
      cards: [[11, '3']],
      problems: ['2: longer than 64 KiB'],
    });
    const line = `${HEADER}\n1,a,"x\n${'y'.repeat(70_000)}\n${INNER}\n"\n3,b,ok\n`;
    expect(await rowsOf(line)).toEqual({ cards: [[6, '3']], problems: ['2: longer than 64 KiB'] });
  });

  it('may come with thousands of quotes', async () => {
    const many = '""\n'.repeat(20_000);
    const { cards } = await rowsOf(`${HEADER}\n${`1,a,"${many}"\n`.repeat(20)}`);
    expect(cards).toHaveLength(20);
  });
});

describe('a quote where none may be', () => {
  it.each([
    [
      'that is not written twice',
      `${HEADER}\n1,a,"he said "hi", was:\n${INNER}\nsince"\n`,
      'line 2: the quotes do not match',
    ],
    ['before a separator', `${HEADER}\n1,a,"was "x",\n${INNER}\nsince"\n`, 'line 2: the quotes do not match'],
    [
      'that ends a field early',
      `${HEADER},a,b\n1,a,"5", was:,,\n${INNER},,\nlong",1,1\n`,
      'line 4: the quotes do not match',
    ],
    ['in a later line', `${HEADER}\n1,a,"was\n${INNER},"old"\n"\n`, 'lines 2 to 3: the quotes do not match'],
    [
      'that opens a field to the end',
      `${HEADER}\n1,"a,b\n${INNER}\n`,
      'lines 2 to 3: a field begins with a quote',
    ],
    ['in the header', `card_id,"iccid\n${INNER}\n`, 'lines 1 to 2: a field begins with a quote'],
    [
      'in a line that is too long',
      `${HEADER}\n1,a,"${'x'.repeat(70_000)}\n${INNER}\n"\n`,
      'line 2: longer than 64 KiB, and there are quotes in it',
    ],
  ])('ends the import, because a row may be of a note: %s', async (_, file, message) => {
    await expect(rowsOf(file)).rejects.toMatchObject({
      kind: 'bad_data',
      code: 'bad_import_quotes',
      message: expect.stringContaining(message),
      hint: expect.stringContaining('twice'),
    });
  });

  it('spoils its own row only, as long as no field of the file is in quotes', async () => {
    expect(await rowsOf(`${HEADER}\n1,a,5" pipe\n2,b,="x"\n3,c,"in quotes"\n`)).toEqual({
      cards: [
        [3, '2'],
        [4, '3'],
      ],
      problems: ['2: the quotes do not match'],
    });
  });
});

describe('a file that is no CSV of cards', () => {
  it.each<[string, string | Buffer, string, string]>([
    [
      'CR at the ends of its lines',
      'card_id,iccid\r1,a\r2,b\r',
      'the lines of the file end in CR alone',
      "tr '\\r' '\\n'",
    ],
    [
      'CR, and LF in its notes',
      `${HEADER}\r1,a,"x\ny"\r2,b,\r`,
      'the lines of the file end in CR alone',
      'LF or CRLF',
    ],
    [
      'CR in a file of any length',
      `card_id,iccid\r${'1,8986\r'.repeat(20_000)}`,
      'the lines of the file end in CR alone',
      'CRLF',
    ],
    [
      'CR in UTF-16',
      Buffer.from('\uFEFFcard_id\ticcid\r1\ta\r', 'utf16le'),
      'the lines of the file end in CR alone',
      'CRLF',
    ],
    [
      'thousands of columns',
      `card_id,iccid,${'a_long_name_of_a_column,'.repeat(3_000)}\n1,2`,
      'it is longer than 64 KiB, with 2,733 columns or more',
      'Keep only the columns',
    ],
    ['a JSON array', '[{"card_id": 1, "iccid": "1"}]', 'it begins a JSON array', "jq -c '.[]'"],
    ['a JSON array over lines', '\n[\n  {"card_id": 1}\n]', 'it begins a JSON array', "jq -c '.[]'"],
    ['a JSON array of arrays', '[["card_id", "iccid"], [1, "a"]]', 'it begins a JSON array', "jq -c '.[]'"],
    [
      'a long JSON array',
      `[${'{"card_id": 1, "iccid": "1"},'.repeat(3_000)}]`,
      'it begins a JSON array',
      'jq',
    ],
  ])('is refused for what it is: %s', async (_, file, message, hint) => {
    const expected = {
      code: 'bad_import_header',
      message: expect.stringContaining(`the header line is wrong: ${message}`),
      hint: expect.stringContaining(hint),
    };
    for (const ignores of [true, false])
      await expect(rowsOf(file, { ignores })).rejects.toMatchObject(expected);
  });

  it.each([
    [
      'ICCID,IMSI,Status\n',
      "column 'iccid' is missing, but there is 'ICCID': name it iccid (it has 'ICCID', 'IMSI', 'Status')",
    ],
    [
      'Card ID;SIM ICCID (20);a;b;c;d\n',
      "column 'card_id' is missing, but there is 'Card ID': name it card_id, column 'iccid' is missing, but there is 'SIM ICCID (20)': name it iccid (it has 'Card ID', 'SIM ICCID (20)', 'a', 'b', 'c' and 1 more)",
    ],
    [
      'Table 1,,,\ncard_id,iccid,allowance_mb,\n',
      "column 'card_id' is missing, column 'iccid' is missing (it has 'Table 1', '', '', '')",
    ],
    ['[card_id],[iccid]\n', "but there is '[card_id]': name it card_id"],
  ])('is refused with the names that its header has: %j', async (file, message) => {
    for (const ignores of [true, false]) await expect(rowsOf(file, { ignores })).rejects.toThrow(message);
    await expect(rowsOf(file)).rejects.toMatchObject({
      hint: expect.stringContaining('You choose the card_id'),
    });
  });

  it('is refused as NDJSON for what it is', async () => {
    const array = { code: 'bad_import_json', message: expect.stringContaining('it begins a JSON array') };
    for (const file of [
      '[{"card_id": 1}]\n',
      '[\n{"card_id": 1}\n]',
      ` [${'{"card_id": 1},'.repeat(9_000)}]`,
    ])
      await expect(rowsOf(file, { format: 'ndjson' })).rejects.toMatchObject(array);
    const cr = { code: 'bad_import_json', hint: expect.stringContaining("tr '\\r' '\\n'") };
    for (const file of ['{"card_id": 1}\r{"card_id": 2}\r', '{"card_id": 1}\r'.repeat(9_000)])
      await expect(rowsOf(file, { format: 'ndjson' })).rejects.toMatchObject(cr);
    const spread = { code: 'bad_import_json', message: expect.stringContaining('goes on in further lines') };
    for (const file of [
      '{\n"card_id": 1\n}',
      '{"cards": [\n{"card_id": 1}\n]}',
      '{"card_id": 1,\n"iccid": "1"}',
    ])
      await expect(rowsOf(file, { format: 'ndjson' })).rejects.toMatchObject(spread);
  });

  it('is read up to rows that end in CR alone, which are named', async () => {
    const { problems } = await rowsOf(`card_id,iccid\n1,a\r2,b\n${'1,a\r'.repeat(20_000)}\n`);
    const cr = 'there is a CR without LF in it';
    expect(problems).toEqual([`2: 3 fields instead of 2: ${cr}`, `3: longer than 64 KiB: ${cr}`]);
  });
});
