// A fleet whose daemons have the rights of docs/security.md and no more: an owner migrates, the statements of the page are run as they
// stand, and the fleet polls, imports and stops cards. Without partitions ahead health says so, and `migrate up` as the owner ends it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { emptyDatabase } from '../support/fresh-stores.ts';
import { REPOSITORY } from '../support/markdown.ts';
import { query } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

const [OWNER, RUN] = [`owner_${process.pid}`, `run_${process.pid}`];
const PATIENCE = { everyMs: 500, timeoutMs: 120_000 };

let database: string;
let fleet: Fleet;

/** The statements of the page about one database, with the names of this test. */
function statementsOfPage(): string[] {
  const page = readFileSync(join(REPOSITORY, 'docs/security.md'), 'utf8');
  const [, listing = ''] = /-- in the database cardpoll, once\n((?: {4}.+\n)+)/.exec(page) ?? [];
  return listing
    .replaceAll('cardpoll_owner', OWNER)
    .replaceAll('cardpoll_run', RUN)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function as(role: string): string {
  const url = new URL(database);
  url.username = role;
  return url.href;
}

const migrateUp = () => cliHere(['migrate', 'up', '--database-url', as(OWNER)]);
const reasons = async () => {
  const { health_reasons: found } = await fleet.get<{ health_reasons: { code: string; text: string }[] }>(
    '/api/admin/polling-stats',
  );
  return found;
};

beforeAll(async () => {
  database = await emptyDatabase();
  const statements = statementsOfPage();
  expect(statements.length).toBeGreaterThan(3);
  await query(database, `CREATE ROLE ${OWNER} LOGIN; CREATE ROLE ${RUN} LOGIN`);
  await query(database, `ALTER DATABASE ${new URL(database).pathname.slice(1)} OWNER TO ${OWNER}`);
  await query(database, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  for (const statement of statements) await query(database, statement);
  expect(await migrateUp()).toMatchObject({ code: 0 });
  fleet = await Fleet.start({ env: { CARDPOLL_DATABASE_URL: as(RUN), CARDPOLL_STOPS_MAX_PER_HOUR: '0' } });
});
afterAll(() => fleet?.close());

it('a user without ownership polls, imports, stops and resumes cards, and is warned of at the start', async () => {
  await fleet.startDaemon();
  await fleet.setIntervals(5);
  await fleet.importCards(50);
  await waitFor(async () => (await fleet.truth()).requests > 200, { ...PATIENCE, what: 'polls' });
  await fleet.cli('cards', 'stop', '1', '--reason', 'test', '--yes');
  await waitFor(async () => Object.keys((await fleet.truth()).stops).length === 1, {
    ...PATIENCE,
    what: 'the stop',
  });
  await fleet.cli('cards', 'resume', '1', '--reason', 'test');
  await waitFor(async () => Object.keys((await fleet.truth()).starts).length === 1, {
    ...PATIENCE,
    what: 'the start',
  });
  expect((await reasons()).map(({ code }) => code)).not.toContain('part_failing');
  expect(await fleet.logged('the user of the database may not make monthly partitions')).toHaveLength(1);
  expect(await fleet.logged('part of the engine failed')).toEqual([]);
});

it('health names the part that may not make partitions, and the command of the page ends it', async () => {
  fleet.daemons.at(-1)?.process.signal('SIGKILL');
  const last = await query<{ name: string }>(
    database,
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = 'card_usage'::regclass ORDER BY 1 DESC LIMIT 1`,
  );
  await query(as(OWNER), `DROP TABLE ${last[0]?.name}`);
  await fleet.startDaemon();
  await waitFor(async () => (await reasons()).some(({ code }) => code === 'part_failing'), {
    ...PATIENCE,
    what: 'the reason',
  });
  expect((await reasons()).find(({ code }) => code === 'part_failing')?.text).toMatch(
    /the part reaper fails: .*permission denied for schema public/,
  );
  expect(await migrateUp()).toMatchObject({ code: 0 });
  await waitFor(async () => (await reasons()).every(({ code }) => code !== 'part_failing'), {
    ...PATIENCE,
    what: 'the end of the reason',
  });
});

it('a user that may not write one table is refused at the start, with the statement that lets it', async () => {
  await query(database, `REVOKE UPDATE ON card_stops FROM ${RUN}`);
  await expect(fleet.startDaemon()).rejects.toThrow(
    /permission denied for table card_stops[\s\S]*GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES/,
  );
});
