// `cardpoll cards import` of a file that lowers allowances, against the real API over real stores: it asks first, and keeps a file
// that takes it back.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative as relativePath } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { reading } from '../../contract/record-store/stores.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { type CliOptions, cli } from '../../unit/cli/cli-under-test.ts';
import { bare, cardsUnderTest, fileOf, numbers } from './cards-under-test.ts';

const under = cardsUnderTest();
const { cards } = under;

describe('an import that lowers allowances', () => {
  const ID = 7_000_000;
  const USED = 40;
  let directory: string;
  let path: string;
  const fleet = (allowanceMb: number) => fileOf(numbers(100).map((i) => bare(ID + i, 1, allowanceMb)));
  const allowances = async () => {
    const { cards: found } = await under.api.records.cards.list(
      { carrierId: null, status: null, stopped: null, vendorId: null },
      ID,
      100,
    );
    return [...new Set(found.map(({ allowanceMb }) => allowanceMb))];
  };
  const imports = (argv: readonly string[] = [], options: CliOptions = {}) =>
    cli(['cards', 'import', path, ...argv], { env: { ...under.env, XDG_STATE_HOME: directory }, ...options });
  const kept = () => readdirSync(join(directory, 'cardpoll-imports'));

  beforeEach(async () => {
    directory = temporaryDirectory('imports');
    path = join(directory, 'cards.csv');
    writeFileSync(path, fleet(1_000));
    expect(await imports()).toMatchObject({ code: 0, stderr: '' });
    const month = new MonthCalendar('Asia/Shanghai').monthOf(Date.now());
    await under.api.records.results.ensurePartitions(month);
    await under.api.records.results.write(
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
    const { CARDPOLL_URL: url } = under.env;
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
      env: { ...home, ...under.env },
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
    expect(
      await cards(['import', oldest], { env: { ...under.env, XDG_STATE_HOME: directory } }),
    ).toMatchObject({
      code: 0,
    });
    expect(await allowances()).toEqual([1_000]);
    expect(kept()).toHaveLength(21);
    expect(readFileSync(oldest, 'utf8')).toBe(fleet(1_000));
  });
});
