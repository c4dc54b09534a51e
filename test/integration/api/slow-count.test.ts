// Statistics while counting the cards takes for ever: here the table is locked, so that counting and estimating hang and
// only what the initialisation knew is left.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { INIT_NOT_STARTED } from '../../../src/store/ports/live/coordination.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

const CARDS = 250;

let api: ApiUnderTest;
let locker: pg.Client;

beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl });
  locker = new pg.Client({ connectionString: databaseUrl });
  await locker.connect();
  await locker.query(
    `INSERT INTO cards (card_id, iccid) SELECT id, '8986' || lpad(id::text, 16, '0') FROM generate_series(1, ${CARDS}) AS id`,
  );
  await api.live.coordination.saveInitProgress({ ...INIT_NOT_STARTED, status: 'completed', total: CARDS });
  await locker.query('BEGIN');
  await locker.query('LOCK TABLE cards IN ACCESS EXCLUSIVE MODE');
});
afterAll(async () => {
  await locker.end();
  await api.close();
});

it('shows what is known, and has one count and one estimate run for all readers', async () => {
  for (const path of ['/api/admin/polling-stats', '/metrics', '/api/admin/polling-stats']) {
    const { status, body } = await api.call('GET', path);
    expect([path, status]).toEqual([path, 200]);
    if (path === '/metrics') expect(body).toContain(`cardpoll_cards ${CARDS}\n`);
    else expect(body.cards_total).toBe(CARDS);
  }
  const { rows } = await locker.query(
    `SELECT count(*) FILTER (WHERE query LIKE 'SELECT count(*) AS count FROM cards%')::int AS counting, count(*)::int AS waiting
     FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`,
  );
  expect(rows).toMatchObject([{ counting: 1 }]);
  // The third asks for stops without effect, which concern cards too, and near the end of a month a fourth one for stopped cards:
  // each once for all readers.
  expect([3, 4]).toContain(rows[0].waiting);
});

it('shows the count once there is one', async () => {
  await locker.query('INSERT INTO cards (card_id, iccid) VALUES (1000, $1)', ['898600000000009999']);
  await locker.query('COMMIT');
  await expect
    .poll(async () => (await api.call('GET', '/api/admin/polling-stats')).body.cards_total)
    .toBe(CARDS + 1);
});
