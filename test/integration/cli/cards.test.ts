// `cardpoll cards import`, `list` and `export` against the real API over real stores: what goes in comes out again, a dry
// run writes nothing, an interrupted import keeps what it says.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative as relativePath } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Interruption } from '../../../src/cli/command.ts';
import { type CardImport, IMPORT_FIELDS } from '../../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { snakeCase } from '../../../src/platform/snake-keys.ts';
import { reading } from '../../contract/record-store/stores.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type CliOptions, cli } from '../../unit/cli/cli-under-test.ts';

const HEADER = IMPORT_FIELDS.map(snakeCase).join(',');
const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;
/** A field that is not given is empty. */
const csv = (row: Partial<CardImport>) => `${IMPORT_FIELDS.map((field) => row[field] ?? '').join(',')}\n`;
const bare = (cardId: number, carrierId = 1, allowanceMb: number | null = null) =>
  csv({ cardId, iccid: iccidOf(cardId), carrierId, status: 1, allowanceMb });
const lineOf = (cardId: number, { carrier = 1, status = 1, iccid = iccidOf(cardId) } = {}) =>
  csv({ cardId, iccid, carrierId: carrier, status, allowanceMb: 500, realNameVerified: false });
const fileOf = (lines: readonly string[]) => `${HEADER}\n${lines.join('')}`;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

let api: ApiUnderTest;
let sql: pg.Client;
let env: Record<string, string>;

beforeAll(async () => {
  const redis = await freshRedis();
  const databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: redis.url, databaseUrl });
  sql = new pg.Client({ connectionString: databaseUrl });
  await sql.connect();
  env = { CARDPOLL_URL: `http://${api.server.address}` };
});
afterAll(async () => {
  await sql.end();
  await api.close();
});
beforeEach(async () => {
  await sql.query('DELETE FROM cards');
});

const cards = (argv: readonly string[], options: CliOptions = {}) =>
  cli(['cards', ...argv], { env, ...options });
async function given(lines: readonly string[]): Promise<void> {
  expect(await cards(['import', '-'], { input: fileOf(lines) })).toMatchObject({ code: 0 });
}
const idsOf = (stdout: string) =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.split('\t')[0]));

describe('import and export', () => {
  it('bring out what was brought in, through standard input and output', async () => {
    const file = fileOf(numbers(3_000).map((id) => lineOf(id, { carrier: id % 3, status: id % 2 })));
    const imported = await cards(['import', '-'], { input: file });
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/^inserted +3,000$/m) });
    const exported = await cards(['export']);
    expect(exported).toEqual({ code: 0, stdout: file, stderr: '' });
    const again = await cards(['import', '-'], { input: exported.stdout });
    expect(again.stdout).toMatch(/^unchanged +3,000$/m);
    const lines = (await cards(['export', '-o', 'jsonl'])).stdout;
    expect((await cards(['import', '-'], { input: lines })).stdout).toMatch(/^unchanged +3,000$/m);
    const some = await cards(['export', '--carrier-id', '2', '--status', '1']);
    expect(
      some.stdout
        .split('\n')
        .slice(1, -1)
        .every((line) => /,2,1,500,.*,false$/.test(line)),
    ).toBe(true);
    expect(some.stdout.split('\n')).toHaveLength(500 + 2);
  });

  it('read lines as JSON also after blank lines that arrive alone', async () => {
    const pieces = ['\n', ' \r\n', `{"card_id": 1, "iccid": "${iccidOf(1)}"`, ', "status": "x"}\n'];
    const outcome = await cards(['import', '-', '--dry-run'], { stdin: Readable.from(pieces) });
    expect(outcome).toMatchObject({ code: 65, stderr: expect.stringMatching(/^line 3: status/) });
  });

  it('say with --dry-run what would be done, and do nothing', async () => {
    await given(numbers(3).map((id) => lineOf(id)));
    const before = (await cards(['export'])).stdout;
    const lines = [
      lineOf(1, { carrier: 1, status: 1 }), // as it is
      lineOf(2, { carrier: 9 }), // another carrier
      lineOf(5_001), // new
      lineOf(5_002, { iccid: iccidOf(3) }), // somebody else's iccid
      'x,y\n',
    ];
    const outcome = await cards(['import', '--dry-run', '-'], { input: fileOf(lines) });
    expect(outcome.code).toBe(65);
    expect(outcome.stdout).toBe('received   5\ninserted   1\nupdated    1\nunchanged  1\nrejected   2\n');
    expect(outcome.stderr).toMatch(/line 5: iccid \d+ belongs[\s\S]*line 6: [\s\S]*nothing was written/);
    expect((await cards(['export'])).stdout).toBe(before);
  });
});

describe('ICCIDs that may be wrong', () => {
  const path = join(temporaryDirectory('doubtful'), 'cards.csv');
  const rounded = 'card_id,iccid\r\n8000001,8986001234567890000\r\n8000002,8986001234568910000\r\n';
  const twins = 'card_id;iccid\r\n8000011;8986002222222222222\r\n8000012;="89860022222222222221"\r\n;\r\n';
  const known = async (cardId: number) => (await api.records.cards.find(String(cardId))) !== null;

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
      stdout: expect.stringMatching(/^(end in zeros|check digit) +[12]$/m),
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
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^end in zeros +1$/m) });
  });
});

describe('numbers and texts of a file', () => {
  const path = join(temporaryDirectory('numbers'), 'cards.csv');
  const ofSpreadsheet = '\uFEFFcard_id;iccid;allowance_mb\r\n25;89860622330044550025;1.024\r\n';

  it('are refused with both readings when the decimal mark of the file is not certain', async () => {
    writeFileSync(path, ofSpreadsheet);
    for (const flags of [[], ['--dry-run'], ['--yes']]) {
      const { code, stdout, stderr } = await cards(['import', path, ...flags]);
      expect({ code, stdout }).toEqual({ code: 65, stdout: '' });
      expect(stderr).toContain("ambiguous_numbers: line 2: allowance_mb '1.024' is 1024 with");
      expect(stderr).toContain('or 1.024 with');
    }
    expect((await cards(['export'])).stdout).toBe(fileOf([]));
    writeFileSync(path, `${ofSpreadsheet}26;89860622330044550026;2.048,5\r\n`);
    expect(await cards(['import', path])).toMatchObject({ code: 0 });
    expect((await cards(['export'])).stdout).toMatch(/,1024,.*\n.*,2048.5,/);
  });

  it('are refused for what is wrong in the last line, too, after the first changes were shown', async () => {
    const ids = numbers(11_000).map((i) => 8_300_000 + i);
    writeFileSync(path, fileOf(ids.map((id) => bare(id))));
    expect(await cards(['import', path])).toMatchObject({ code: 0 });
    const before = (await cards(['export'])).stdout;
    for (const [last, problem] of [
      [`1,${iccidOf(1)},,,1.024,,\n`, 'ambiguous_numbers: line 11002'],
      [`1,"${iccidOf(1)}"x,,,,,\n`, 'line 11002: the quotes do not match'],
    ] as const) {
      const undo = `${path}.${problem.length}`;
      writeFileSync(path, fileOf([...ids.map((id) => bare(id, 7)), last]));
      const { code, stderr } = await cards(['import', path, '--undo-file', undo]);
      expect({ code, stderr }).toEqual({ code: 65, stderr: expect.stringContaining(problem) });
      expect(existsSync(undo), 'nothing was imported').toBe(false);
      expect((await cards(['export'])).stdout).toBe(before);
    }
  });

  it('come back as they were from the file that undoes an import, and from an export', async () => {
    const before = [
      { card_id: 8_200_001, iccid: iccidOf(8_200_001), allowance_mb: 1.024, vendor_id: 'a,b' },
      { card_id: 8_200_002, iccid: iccidOf(8_200_002), allowance_mb: 12.345, vendor_id: 'a"b' },
    ];
    const lines = before.map((row) => JSON.stringify(row)).join('\n');
    expect(await cards(['import', '-'], { input: lines })).toMatchObject({ code: 0 });
    const exported = (await cards(['export'])).stdout;
    const undo = `${path}.undo`;
    writeFileSync(
      path,
      `card_id,iccid,vendor_id\n${before.map((row) => `${row.card_id},${row.iccid},new-${row.card_id}\n`).join('')}`,
    );
    expect(await cards(['import', path, '--undo-file', undo])).toMatchObject({ code: 0 });
    expect((await cards(['export'])).stdout).toContain('new-8200001');
    expect(await cards(['import', undo, '--overwrite-verified'])).toMatchObject({ code: 0 });
    expect((await cards(['export'])).stdout).toBe(exported);
    expect((await cards(['import', '-'], { input: exported })).stdout).toMatch(/^unchanged +2$/m);
  });
});

describe('an import that lowers allowances', () => {
  const ID = 7_000_000;
  const USED = 40;
  let directory: string;
  let path: string;
  const fleet = (allowanceMb: number) => fileOf(numbers(100).map((i) => bare(ID + i, 1, allowanceMb)));
  const allowances = async () => {
    const { cards: found } = await api.records.cards.list(
      { carrierId: null, status: null, stopped: null, vendorId: null },
      ID,
      100,
    );
    return [...new Set(found.map(({ allowanceMb }) => allowanceMb))];
  };
  const imports = (argv: readonly string[] = [], options: CliOptions = {}) =>
    cli(['cards', 'import', path, ...argv], { env: { ...env, XDG_STATE_HOME: directory }, ...options });
  const kept = () => readdirSync(join(directory, 'cardpoll-imports'));

  beforeEach(async () => {
    directory = temporaryDirectory('imports');
    path = join(directory, 'cards.csv');
    writeFileSync(path, fleet(1_000));
    expect(await imports()).toMatchObject({ code: 0, stderr: '' });
    const month = new MonthCalendar('Asia/Shanghai').monthOf(Date.now());
    await api.records.results.ensurePartitions(month);
    await api.records.results.write(
      numbers(USED).map((i) => reading(ID + i, { month, usedMb: 600, atMs: Date.now(), basedOn: null })),
    );
    writeFileSync(path, fleet(500));
  });

  it('is refused without a terminal, with the number of cards, and writes nothing', async () => {
    const { code, stderr } = await imports();
    expect(code).toBe(64);
    expect(stderr).toContain('40 running cards would be over their package');
    expect(stderr).toContain('--yes');
    expect(await allowances()).toEqual([1_000]);
    expect(kept(), 'nothing was imported').toEqual([]);
    expect((await imports(['--dry-run'])).stdout).toMatch(/^over package +40$/m);
    const piped = await cards(['import', '-'], { input: fleet(500) });
    expect(piped).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') });
    expect(await allowances()).toEqual([1_000]);
  });

  it('asks on a terminal', async () => {
    const { code, stderr } = await imports([], { tty: true, input: 'n\n' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/40 running cards would be over their package[\s\S]*Go ahead\?/);
    expect(await allowances()).toEqual([1_000]);
    expect(kept()).toEqual([]);
  });

  it('keeps the cards as they were in a file whose import takes it back', async () => {
    const { code, stderr, stdout } = await imports(['--yes']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^over package +40$/m) });
    expect(await allowances()).toEqual([500]);
    const [, file = ''] =
      /to undo the import: cardpoll cards import (\S+) --overwrite-verified --url \S+$/m.exec(stderr) ?? [];
    expect(stderr, 'nor what has happened to them').toMatch(
      /does not resume cards: cardpoll stops resume --since 2\S+Z --reason 'import undone' --url \S+\n$/,
    );
    expect(readFileSync(file, 'utf8').startsWith(fileOf([bare(ID + 1, 1, 1_000)]))).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await imports(['--undo-file', file, '--yes']);
    expect(again, 'nothing differs, so there is nothing to keep').toMatchObject({ code: 0, stderr: '' });
    const undone = await cards(['import', file, '--overwrite-verified']);
    expect(undone.stdout).toMatch(/^updated +100$/m);
    expect(await allowances()).toEqual([1_000]);
  });

  it('prints a command that leads to the same daemon, from any directory and when another context is in use', async () => {
    const file = join(directory, "Ann's cards.csv");
    const tokenFile = join(directory, 'token of prod');
    writeFileSync(tokenFile, 'any-token-of-prod\n', { mode: 0o600 });
    const home = { XDG_STATE_HOME: directory, XDG_CONFIG_HOME: directory };
    const { CARDPOLL_URL: url } = env;
    await cli(['context', 'add', 'prod', '--url', `${url}`, '--token-file', tokenFile], { env: home });
    const { code, stderr } = await cli(['cards', 'import', path, '--yes', '--undo-file', file], {
      env: home,
    });
    expect(code).toBe(0);
    expect(stderr).toContain(
      `to undo the import: cardpoll cards import '${directory}/Ann'\\''s cards.csv' --overwrite-verified --url ${url} --token-file '${tokenFile}'\nit also undoes later changes of these cards\n`,
    );
    const relative = relativePath(process.cwd(), tokenFile);
    const given = await cli(['cards', 'import', file, '--token-file', relative, '--overwrite-verified'], {
      env: { ...home, ...env },
    });
    expect(given).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`--token-file '${tokenFile}'\n`),
    });
    expect(await allowances()).toEqual([1_000]);
  });

  /** More than are kept. */
  function keepOldFiles(): void {
    mkdirSync(join(directory, 'cardpoll-imports'), { recursive: true });
    for (const i of numbers(25))
      writeFileSync(join(directory, 'cardpoll-imports', `before-2025-01-${10 + i}T00-00-00-000Z.csv`), '');
  }

  it('imports nothing when the cards cannot be kept, and keeps the twenty newest files', async () => {
    const taken = join(directory, 'taken.csv');
    writeFileSync(taken, 'precious');
    const { code, stderr } = await imports(['--yes', '--undo-file', taken]);
    expect(code).toBe(74);
    expect(stderr).toContain('cannot keep the cards as they are');
    expect(await allowances()).toEqual([1_000]);
    expect(readFileSync(taken, 'utf8')).toBe('precious');
    keepOldFiles();
    expect((await imports()).code, 'refused').toBe(64);
    expect(kept().length, 'an import that is refused costs no way back').toBeGreaterThanOrEqual(25);
    expect((await imports(['--yes'])).code).toBe(0);
    expect(kept()).toHaveLength(20);
    expect(await allowances()).toEqual([500]);
  });

  it('keeps the oldest file while it is imported, which undoes an import of long ago', async () => {
    keepOldFiles();
    expect((await imports(['--yes'])).code).toBe(0);
    const oldest = join(directory, 'cardpoll-imports', kept()[0] ?? '');
    writeFileSync(oldest, fleet(1_000));
    expect(await cards(['import', oldest], { env: { ...env, XDG_STATE_HOME: directory } })).toMatchObject({
      code: 0,
    });
    expect(await allowances()).toEqual([1_000]);
    expect(kept()).toHaveLength(21);
    expect(readFileSync(oldest, 'utf8')).toBe(fleet(1_000));
  });
});

describe('an import of a file', () => {
  const directory = temporaryDirectory('import-files');
  const options = { env: () => ({ ...env, XDG_STATE_HOME: directory }) };

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
    const { cards: operations } = api.operations;
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
    const { cards: operations } = api.operations;
    const preview = operations.preview.bind(operations);
    const spy = vi.spyOn(operations, 'preview').mockImplementation(async (...args) => {
      const report = await preview(...args);
      await cards(['import', '-'], { input });
      return report;
    });
    return () => spy.mockRestore();
  }
});

describe('list', () => {
  it('shows cards in id order, and how to go on', async () => {
    await given(numbers(3_000).map((id) => lineOf(id, { carrier: id % 3 })));
    expect(idsOf((await cards(['list', '--limit', '3', '-o', 'tsv'])).stdout)).toEqual([1, 2, 3]);
    const page = await cards(['list', '--limit', '3', '--after-id', '3'], { tty: true });
    expect(page.stdout).toMatch(
      /^3 cards, and there may be more: --after-id 6, or all: cardpoll cards export$/m,
    );
    // No card follows this page, which is full.
    const last = await cards(['list', '--limit', '3', '--after-id', '2997'], { tty: true });
    expect(last.stdout).toContain('3 cards, and there may be more: --after-id 3000');
    const carrier = await cards(['list', '--carrier-id', '2', '--after-id', '2990', '-o', 'tsv']);
    expect(idsOf(carrier.stdout)).toEqual([2_993, 2_996, 2_999]);
    expect((await cards(['list', '--stopped', 'yes'], { tty: true })).stdout).toMatch(/^no card matches/);
    expect(await cards(['list', '--stopped', 'maybe'])).toMatchObject({ code: 64 });
  });

  it('finds the few that match among many that do not', async () => {
    const far = numbers(45_000).map((i) => i + 10_000);
    const file = fileOf(far.map((id) => lineOf(id, { status: id === 30_000 || id === 55_000 ? 77 : 1 })));
    expect((await cards(['import', '-'], { input: file })).code).toBe(0);
    const found = await cards(['list', '--status', '77', '-o', 'json']);
    const { items, next_after_id } = JSON.parse(found.stdout);
    expect(items.map(({ card_id }: { card_id: number }) => card_id)).toEqual([30_000, 55_000]);
    expect(next_after_id).toBeNull();
  });
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
      await waitFor(async () => (await api.records.cards.find(String(FIRST + 1))) !== null);
      interrupt.abort(new Interruption(130));
      const { code, stdout, stderr } = await running;
      expect(code).toBe(130);
      const kept = Number(/^inserted +([\d,]+)$/m.exec(stdout)?.[1]?.replaceAll(',', ''));
      expect(kept).toBeGreaterThanOrEqual(10_000);
      const rejected = bad === '' ? 0 : 1;
      expect(stdout).toMatch(new RegExp(`^rejected +${rejected}$`, 'm'));
      const received = (kept + rejected).toLocaleString('en-US');
      expect(stderr).toContain(`interrupted: the first ${received} rows are kept`);
      expect(await api.records.cards.find(String(FIRST + kept))).not.toBeNull();
      expect(await api.records.cards.find(String(FIRST + kept + 1))).toBeNull();
    },
  );
});
