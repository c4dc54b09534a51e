// `cardpoll cards import` against the real API over real stores: what it asks about before it writes, what it says of a file that it
// cannot read, and what it keeps when it is interrupted.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { Interruption } from '../../../src/cli/command.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { waitFor } from '../../support/wait-for.ts';
import { bare, cardsUnderTest, fileOf, HEADER, iccidOf, lineOf, numbers } from './cards-under-test.ts';

const under = cardsUnderTest();
const { cards, given } = under;

describe('ICCIDs that may be wrong', () => {
  const path = join(temporaryDirectory('doubtful'), 'cards.csv');
  const rounded = 'card_id,iccid\r\n8000001,8986001234567890000\r\n8000002,8986001234568910000\r\n';
  const twins = 'card_id;iccid\r\n8000011;8986002222222222222\r\n8000012;="89860022222222222221"\r\n;\r\n';
  const known = async (cardId: number) => (await under.api.records.cards.find(String(cardId))) !== null;

  it.each([
    [
      'a spreadsheet rounded',
      rounded,
      '2 of 2 cards that get an ICCID would get one that ends in zeros',
      8000001,
    ],
    [
      'of one SIM twice',
      twins,
      '1 would get the ICCID of another card with or without its check digit',
      8000011,
    ],
  ])('%s are counted, shown and asked about before anything is written', async (_, file, asked, cardId) => {
    writeFileSync(path, file);
    const refused = await cards(['import', path]);
    expect(refused).toMatchObject({ code: 64, stdout: '' });
    expect(refused.stderr).toContain(asked);
    expect(refused.stderr).toMatch(/^line [23]: iccid \d+ /m);
    const piped = await cards(['import', '-'], { input: file });
    expect(piped).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') });
    expect(await cards(['import', path], { tty: true, input: 'n\n' })).toMatchObject({ code: 1 });
    expect(await known(cardId)).toBe(false);
    const dry = await cards(['import', path, '--dry-run']);
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ICCIDs (that end in zeros|of other cards) +[12]$/m),
    });
    expect(await cards(['import', path, '--yes'])).toMatchObject({ code: 0 });
    expect(await known(cardId)).toBe(true);
    expect(await cards(['import', path]), 'the cards have these ICCIDs now').toMatchObject({
      code: file === twins ? 64 : 0,
    });
  });

  it('are not asked about where chance explains them', async () => {
    const cardsOfTen = numbers(10_000).map((i) => `${8_100_000 + i},${iccidOf(8_100_000 + i)}\n`);
    writeFileSync(path, `card_id,iccid\n${cardsOfTen.join('')}`);
    const { code, stdout } = await cards(['import', path]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ICCIDs that end in zeros +1$/m),
    });
  });
});

describe('an import of a file', () => {
  const directory = temporaryDirectory('import-files');
  const options = { env: () => ({ ...under.env, XDG_STATE_HOME: directory }) };

  it('is refused when it is a pipe, which cannot be read twice: it was called empty, or waited for indefinitely', async () => {
    const pipe = join(directory, 'cards.pipe');
    execFileSync('mkfifo', [pipe]);
    const { code, stderr } = await cards(['import', pipe], { env: options.env() });
    expect(code).toBe(64);
    expect(stderr).toBe(
      `cardpoll: ${pipe} is a pipe or a device, and a file is read twice (hint: \`cardpoll cards import -\` reads standard input once; then nothing is kept to undo the import.)\n`,
    );
  });

  it('warns when more cards were updated than were kept, because another import came between', async () => {
    const path = join(directory, 'cards.csv');
    const ID = 8_000_000;
    const fleet = (carrier: number) => fileOf(numbers(3).map((i) => bare(ID + i, carrier)));
    const other = fileOf([bare(ID + 1, 9), bare(ID + 2, 9)]);
    expect(await cards(['import', '-'], { input: fleet(1) })).toMatchObject({ code: 0 });
    writeFileSync(path, fleet(1).replace(',1,1,', ',5,1,'));
    const restore = importsOfOthers(other);
    const { code, stderr } = await cards(['import', path], { env: options.env() });
    restore();
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^1 card is kept as it is in .*\nto undo the import: .*\nit also undoes later changes of these cards\n2 cards were updated but only 1 was kept: other changes came between; the file does not take all of this import back\n$/,
    );
  });

  it('says that rows are kept when the daemon ends in between', async () => {
    await given([lineOf(1)]);
    const path = join(directory, 'cut.csv');
    writeFileSync(path, fileOf([lineOf(1, { status: 8 })]));
    const { cards: operations } = under.api.operations;
    const cut = new CardpollError('unavailable', 'store_unavailable', 'PostgreSQL has gone');
    vi.spyOn(operations, 'import').mockRejectedValueOnce(cut).mockRejectedValueOnce(cut);
    const part = /^the rows that have arrived are kept; run the same command again to import the rest(.*)\n/m;
    const [file, piped] = [
      await cards(['import', path], { env: options.env() }),
      await cards(['import', '-'], { input: fileOf([lineOf(1)]) }),
    ];
    expect([file.code, part.exec(file.stderr)?.[1]]).toEqual([
      69,
      ', and keep both undo files: each has its own part',
    ]);
    expect([piped.code, part.exec(piped.stderr)?.[1]]).toEqual([69, '']);
  });

  it('says that an undo does not remove new cards', async () => {
    await given([lineOf(1)]);
    const path = join(directory, 'new.csv');
    writeFileSync(path, fileOf([lineOf(1, { status: 7 }), lineOf(9_000_001), lineOf(9_000_002)]));
    const { stderr } = await cards(['import', path], { env: options.env() });
    expect(stderr).toMatch(/^it does not remove new cards: the import adds 2 cards$/m);
  });

  /** Another import after each preview. */
  function importsOfOthers(input: string): () => void {
    const { cards: operations } = under.api.operations;
    const preview = operations.preview.bind(operations);
    const spy = vi.spyOn(operations, 'preview').mockImplementation(async (...args) => {
      const report = await preview(...args);
      await cards(['import', '-'], { input });
      return report;
    });
    return () => spy.mockRestore();
  }
});

describe('Ctrl-C in an import', () => {
  const FIRST = 1_000_000;

  it.each([
    ['of a line', { end: ',false,', last: ',false,', bad: '' }],
    ['of a line with quotes', { end: ',"false",', last: 'se",', bad: '' }],
    ['of a line after a stray quote', { end: ',false,', last: ',false,', bad: '1,2,,,,,,5" pipe\n' }],
    ['of a field with line breaks', { end: ',false,"one\n,x,\ntwo"', last: 'two"', bad: '' }],
  ])(
    'ends it behind a whole row, not in the middle %s, keeps what it says and ends with 130',
    async (_, { end, last, bad }) => {
      const interrupt = new AbortController();
      async function* endless(): AsyncGenerator<string> {
        yield `${HEADER},note\n${bad}`;
        for (let i = 1; ; i += 1) {
          const row = lineOf(FIRST + i).replace(',false\n', end);
          // Every piece ends in the middle of a row.
          yield `${i === 1 ? '' : `${last}\n`}${row.slice(0, -last.length)}`;
          if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
      }
      const running = cards(['import', '-', '--ignore-columns'], {
        stdin: Readable.from(endless()),
        signal: interrupt.signal,
      });
      // Some of it is in the database before it is interrupted.
      await waitFor(async () => (await under.api.records.cards.find(String(FIRST + 1))) !== null);
      interrupt.abort(new Interruption(130));
      const { code, stdout, stderr } = await running;
      expect(code).toBe(130);
      const kept = Number(/^inserted +([\d,]+)$/m.exec(stdout)?.[1]?.replaceAll(',', ''));
      expect(kept).toBeGreaterThanOrEqual(10_000);
      const rejected = bad === '' ? 0 : 1;
      expect(stdout).toMatch(new RegExp(`^rejected +${rejected}$`, 'm'));
      const received = (kept + rejected).toLocaleString('en-US');
      expect(stderr).toContain(`interrupted: the first ${received} rows are kept`);
      expect(await under.api.records.cards.find(String(FIRST + kept))).not.toBeNull();
      expect(await under.api.records.cards.find(String(FIRST + kept + 1))).toBeNull();
    },
  );
});
