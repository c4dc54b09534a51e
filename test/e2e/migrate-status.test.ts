// `cardpoll migrate status` of a database that is not there yet, and of one that is ahead of the binary.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { query } from '../support/postgres-server.ts';
import { runCli, waitFor } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

it('names the database, answers 1, and leaves nothing behind', async () => {
  const parent = temporaryDirectory('status');
  const dataDir = join(parent, 'data');
  const { code, stdout, stderr } = await cliHere(['migrate', 'status', '--data-dir', dataDir]);
  expect([code, stderr]).toEqual([1, `database: embedded, in ${dataDir}\n`]);
  expect(stdout).toMatch(/^0001_cards +missing +-$/m);
  expect(existsSync(dataDir)).toBe(false);
});

it('says that the schema is of a later version, on which the daemon starts and polls', async () => {
  const fleet = await Fleet.start();
  onTestFinished(() => fleet.close());
  const env = { CARDPOLL_DATABASE_URL: fleet.databaseUrl };
  await runCli(['migrate', 'up'], { env });
  await query(fleet.databaseUrl, `INSERT INTO cardpoll_migrations (id, checksum) VALUES ('9999_later', 'x')`);

  const status = await cliHere(['migrate', 'status'], { env });
  expect(status.code).toBe(0);
  expect(status.stdout).toMatch(/^0001_cards +applied /m);
  expect(status.stdout).toMatch(/^9999_later +of a later version /m);

  const up = await runCli(['migrate', 'up'], { env });
  expect([up.code, up.stdout]).toEqual([0, '']);
  expect(up.stderr).toMatch(/ migrations of this version are applied; of a later version: 9999_later\n$/);

  const { process } = await fleet.startDaemon();
  await fleet.importCards(1);
  await fleet.redis.rpush('polling:manual:package', '1');
  await waitFor(async () => (await fleet.truth()).requests > 0, { what: 'the card to be polled' });
  expect((await process.stop('SIGTERM')).code).toBe(0);
  const warnings = [];
  for await (const line of fleet.logLines()) if ('newer' in line) warnings.push(line);
  expect(warnings).toMatchObject([
    { level: 'warn', newer: ['9999_later'], msg: 'the database is of a later version' },
  ]);
});
