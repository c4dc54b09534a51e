// The settings that bound the connections of an instance, seen from PostgreSQL and from the gateway.
import pg from 'pg';
import { expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = Array.from({ length: 50 }, (_, index) => index + 1);

it('an instance works on two connections to the database and one to the gateway, and opens no more', async () => {
  const fleet = await Fleet.start({ simulator: ['--latency-ms', '5'] });
  await fleet.startDaemon({
    CARDPOLL_DATABASE_MAX_CONNECTIONS: '2',
    CARDPOLL_GATEWAY_MAX_CONNECTIONS: '1',
  });
  const client = new pg.Client({ connectionString: fleet.databaseUrl });
  await client.connect();
  await client.query('INSERT INTO cards (card_id, iccid) SELECT * FROM unnest($1::bigint[], $2::text[])', [
    CARDS,
    CARDS.map(demoIccid),
  ]);
  await client.query('UPDATE polling_configs SET interval_seconds = 1');
  await waitFor(async () => (await fleet.truth()).requests >= 100, { what: 'polls' });
  expect((await fleet.truth()).max_in_flight).toBe(1);
  const { rows } = await client.query(
    `SELECT count(*)::int AS connections FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'cardpoll'`,
  );
  await client.end();
  expect(rows).toEqual([{ connections: 2 }]);
});
