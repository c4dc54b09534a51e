// `cardpoll cards import`, `export` and `list` against the real API over real stores: what goes in comes out again, numbers and
// texts too, and a dry run writes nothing.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { bare, cardsUnderTest, fileOf, iccidOf, lineOf, numbers } from './cards-under-test.ts';

const under = cardsUnderTest();
const { cards, given } = under;
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

  it.each([
    ["'4711"],
    ["''4711"],
    ['="8986"'],
    ["=cmd|' /C calc'!A0"],
    ['+4711'],
    ['-4711'],
    ['@SUM(1,2)'],
    ['\uFF1D4711'],
  ])('come back as they were from an export that makes no formula of the vendor_id %s', async (vendorId) => {
    const row = { card_id: 8_200_003, iccid: iccidOf(8_200_003), vendor_id: vendorId };
    expect(await cards(['import', '-'], { input: JSON.stringify(row) })).toMatchObject({ code: 0 });
    const exported = (await cards(['export'])).stdout;
    const text = `'${vendorId}`.replaceAll('"', '""');
    expect(exported).toContain(/[",]/.test(text) ? `,"${text}",` : `,${text},`);
    expect((await cards(['import', '-'], { input: exported })).stdout).toMatch(/^unchanged +1$/m);
    expect((await cards(['export', '-o', 'jsonl'])).stdout).toContain(JSON.stringify(vendorId));
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
