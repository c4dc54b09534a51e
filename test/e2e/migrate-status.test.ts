// `cardpoll migrate status` of a database that is not there yet: the built binary says so and creates none.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../support/processes.ts';

it('names the database, answers 1, and leaves nothing behind', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'cardpoll-status-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const dataDir = join(parent, 'data');
  const { code, stdout, stderr } = await runCli(['migrate', 'status', '--data-dir', dataDir]);
  expect([code, stderr]).toEqual([1, `database: embedded, in ${dataDir}\n`]);
  expect(stdout).toMatch(/^0001_cards\tmissing\t-$/m);
  expect(existsSync(dataDir)).toBe(false);
});
