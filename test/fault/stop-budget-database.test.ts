// The budget of stops is kept, and used up, while PostgreSQL crashes and is started again, or fails over to a standby that
// has every commit. A standby that lacks the last commits lets it be exceeded by the stops counted in them
// (docs/decisions/0032-safeguards-of-stops.md).
import { afterEach, expect, it } from 'vitest';
import { BreakableLink } from '../support/breakable-link.ts';
import { expectBudgetExceededByLost, expectBudgetKeptOver } from '../support/budgeted-fleet.ts';
import { type PostgresServer, query, startPostgres, streamingStandbyOf } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

const servers: PostgresServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0).reverse()) await server.stop();
});

it('over a crash of PostgreSQL', async () => {
  const postgres = await startPostgres();
  servers.push(postgres);
  await expectBudgetKeptOver(postgres, async () => {
    await postgres.kill('SIGQUIT');
    await postgres.start();
    return postgres.port;
  });
});

it('over a failover to a synchronous standby', async () => {
  const primary = await startPostgres();
  servers.push(primary);
  const standby = await streamingStandbyOf(primary);
  servers.push(standby);
  await query(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await query(primary.url, 'SELECT pg_reload_conf()');
  await waitFor(
    async () =>
      (await query(primary.url, 'SELECT sync_state FROM pg_stat_replication'))[0]?.sync_state === 'sync',
    { what: 'the standby to be synchronous' },
  );
  await expectBudgetKeptOver(primary, async () => {
    return failOver(primary, standby);
  });
});

it('over a failover to an asynchronous standby, but for the stops it lacks', async () => {
  const primary = await startPostgres();
  servers.push(primary);
  const link = await BreakableLink.to(primary.port);
  const standby = await streamingStandbyOf(primary, link.port);
  servers.push(standby);
  await expectBudgetExceededByLost(primary, async (stopMore) => {
    const [at] = await query(primary.url, 'SELECT pg_current_wal_lsn()::text AS lsn');
    const hasAll = `SELECT coalesce(pg_last_wal_replay_lsn() >= '${at?.lsn}', false) AS ok`;
    await waitFor(async () => (await query(standby.url, hasAll))[0]?.ok, { what: 'the standby to follow' });
    await link.close();
    await stopMore();
    return failOver(primary, standby);
  });
});

/** @returns the port of the server that takes over. */
async function failOver(primary: PostgresServer, standby: PostgresServer): Promise<number> {
  await primary.kill();
  await query(standby.url, 'SELECT pg_promote()');
  expect(await query(standby.url, 'SELECT pg_is_in_recovery() AS follows')).toEqual([{ follows: false }]);
  return standby.port;
}
