// Rows of CSV whose fields have line breaks or quotes: what is read, what is refused, and why.
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
