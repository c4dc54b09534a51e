// The change feed: everything committed after a mark, by whomever, once; nothing else.
import pg from 'pg';
import { expect, it } from 'vitest';
import { IMPORT_FIELDS, STATE_FIELDS } from '../../../src/domain/cards/card.ts';
import { snakeCase } from '../../../src/platform/snake-keys.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';
import { addCards, describeBothRecordStores, followChanges, iccidOf, range, reading, row } from './stores.ts';

const NOTHING = { changed: [], removed: [] };
const CAUGHT_UP = { caughtUp: true };
/** By the type of a column: no card of these tests has it before. */
const OTHER_VALUES: Record<string, string> = {
  integer: '7',
  'double precision': 'NULL',
  text: "'v-1'",
  boolean: 'true',
};

describeBothRecordStores('card changes', (db) => {
  it('reports nothing when nothing happened', async () => {
    await addCards(db.store, 1, 2);
    const mark = await db.store.cards.changeMark();
    expect(await db.store.cards.changesSince(mark, 10)).toMatchObject({ ...NOTHING, ...CAUGHT_UP });
  });

  it('reports added, changed and removed cards', async () => {
    await addCards(db.store, 1, 2, 3);
    const mark = await db.store.cards.changeMark();
    await addCards(db.store, 4);
    await db.store.cards.importChunk([row(2, { carrierId: 9 })]);
    await db.sql('DELETE FROM cards WHERE card_id = 3');
    const first = await db.store.cards.changesSince(mark, 10);
    expect(first, 'one call is enough for a few').toMatchObject(CAUGHT_UP);
    expect(first.changed).toContainEqual({ cardId: 2, carrierId: 9, realNameVerified: false });
    const { changed, removed } = await followChanges(db.store, mark);
    expect({ changed, removed }).toEqual({ changed: [2, 4], removed: [3] });
    expect(await followChanges(db.store, first.mark)).toMatchObject(NOTHING);
  });

  it('follows plain SQL on every column that matters, and only when it really changes', async () => {
    await addCards(db.store, 1);
    const types = await db.sql(
      "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'cards'",
    );
    const typeOf = new Map(types.map((column) => [column.column_name, String(column.data_type)]));
    // The trigger cards_changed names the columns.
    for (const field of new Set([...IMPORT_FIELDS, ...STATE_FIELDS])) {
      if (field === 'cardId') continue;
      const column = snakeCase(field);
      const edit = `${column} = ${column === 'iccid' ? `'${iccidOf(99)}'` : OTHER_VALUES[typeOf.get(column) ?? '']}`;
      const mark = await db.store.cards.changeMark();
      await db.sql(`UPDATE cards SET ${edit}`);
      const followed = await followChanges(db.store, mark);
      expect([edit, followed.changed]).toEqual([edit, [1]]);
      await db.sql(`UPDATE cards SET ${edit}`);
      expect([edit, (await followChanges(db.store, followed.mark)).changed]).toEqual([edit, []]);
    }
  });

  it('moves updated_at with a change', async () => {
    await addCards(db.store, 1);
    await db.sql('UPDATE cards SET status = 2');
    expect(await db.sql('SELECT updated_at > created_at AS moved FROM cards')).toEqual([{ moved: true }]);
  });

  it('reports a card whose id was changed as removed and added', async () => {
    await addCards(db.store, 1);
    const mark = await db.store.cards.changeMark();
    await db.sql('UPDATE cards SET card_id = 2');
    expect(await followChanges(db.store, mark)).toMatchObject({ changed: [2], removed: [1] });
  });

  it('reports a card that was removed and added again as changed only', async () => {
    await addCards(db.store, 1);
    const mark = await db.store.cards.changeMark();
    await db.sql('DELETE FROM cards');
    await addCards(db.store, 1);
    expect(await followChanges(db.store, mark)).toMatchObject({ changed: [1], removed: [] });
  });

  it('reports verification and stops, but not that a card was polled', async () => {
    await addCards(db.store, 1, 2, 3);
    const mark = await db.store.cards.changeMark();
    await db.store.results.write([
      { cardId: 1, taskType: 'realname', polledAtMs: 5, realNameVerified: true },
      { cardId: 2, taskType: 'package', polledAtMs: 5, stopped: true },
      reading(3, { usedMb: 1, atMs: 5, basedOn: null }),
    ]);
    expect(await followChanges(db.store, mark)).toMatchObject({ changed: [1, 2], removed: [] });
  });

  it('pages through thousands of changes of one transaction, each once, while more happen', async () => {
    await addCards(db.store, ...range(2_500));
    const mark = await db.store.cards.changeMark();
    await db.sql('UPDATE cards SET status = 2 WHERE card_id > 500');
    await db.sql('DELETE FROM cards WHERE card_id <= 500');
    const first = await db.store.cards.changesSince(mark, 300);
    expect(first.changed).toHaveLength(300);
    expect(first.removed).toHaveLength(300);
    // One page in, a card already read and one yet to come change again.
    const again = [first.changed[0]?.cardId as number, 2_500];
    await db.sql('UPDATE cards SET status = 3 WHERE card_id = ANY ($1::bigint[])', [again]);
    const rest = await followChanges(db.store, first.mark, 300);
    const changed = [...first.changed.map((card) => card.cardId), ...rest.changed];
    expect(changed).toHaveLength(2_001);
    expect(new Set(changed)).toEqual(new Set(range(2_000, 501)));
    expect(rest.changed).toContain(again[0]);
    expect([...first.removed, ...rest.removed].sort((a, b) => a - b)).toEqual(range(500));
  });

  it('has caught up only with what is committed until the call that says so', async () => {
    await addCards(db.store, ...range(3));
    const mark = await db.store.cards.changeMark();
    await db.sql('UPDATE cards SET status = 2 WHERE card_id <= 2');
    const first = await db.store.cards.changesSince(mark, 1);
    await db.sql('UPDATE cards SET status = 2 WHERE card_id = 3');
    const pages = [first];
    while (!pages.at(-1)?.caughtUp)
      pages.push(await db.store.cards.changesSince(pages.at(-1)?.mark as string, 2));
    expect(pages.map(({ changed }) => changed.map((card) => card.cardId))).toEqual([[1], [2], [3]]);
  });

  it('has caught up only after all changes, even if a whole page has none to report', async () => {
    await addCards(db.store, ...range(20));
    const mark = await db.store.cards.changeMark();
    await db.sql('DELETE FROM cards');
    await addCards(db.store, ...range(15));
    const { changed, removed } = await followChanges(db.store, mark, 4);
    expect({ changed, removed }).toEqual({ changed: range(15), removed: range(5, 16) });
  });

  it('keeps a mark for as long as one likes', async () => {
    const mark = await db.store.cards.changeMark();
    for (const cardId of range(20)) await addCards(db.store, cardId);
    expect(await followChanges(db.store, mark, 3)).toMatchObject({ changed: range(20) });
    const another = await db.another();
    expect(await followChanges(another, mark, 7)).toMatchObject({ changed: range(20) });
  });

  it('refuses to have cards truncated', async () => {
    await expect(db.sql('TRUNCATE cards')).rejects.toThrow(/cannot be truncated/);
  });

  it('refuses what is no mark, and a mark from the future', async () => {
    for (const text of ['', 'x', '5', '1:2:3:4', '1:2:/', '1:2:/1:3:/x/-']) {
      await expect(db.store.cards.changesSince(text, 10)).rejects.toMatchObject({ code: 'bad_change_mark' });
    }
    await expect(db.store.cards.changesSince('900000000:900000000:', 10)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'change_mark_ahead',
    });
  });
});

// Needs two transactions open at once, which PGlite's one connection cannot have.
it('never misses a transaction that began before the mark and commits after it (PostgreSQL)', async () => {
  const url = await freshDatabase();
  const store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  const late = new pg.Client({ connectionString: url });
  await store.migrations.up();
  await addCards(store, 1, 2, 3, 4);
  await late.connect();
  await late.query('BEGIN');
  await late.query('UPDATE cards SET status = 2 WHERE card_id = 1');
  await late.query('DELETE FROM cards WHERE card_id = 2');

  // Later transactions commit, and are read, first.
  const mark = await store.cards.changeMark();
  await addCards(store, 5);
  const early = await followChanges(store, mark);
  expect(early).toMatchObject({ changed: [5], removed: [] });
  await addCards(store, 6);
  const paged = await store.cards.changesSince(early.mark, 1);
  expect(paged.changed.map((card) => card.cardId)).toEqual([6]);

  await late.query('COMMIT');
  expect(await followChanges(store, early.mark)).toMatchObject({ changed: [1, 6], removed: [2] });
  expect(await followChanges(store, paged.mark)).toMatchObject({ changed: [1], removed: [2] });
  expect(await followChanges(store, mark)).toMatchObject({ changed: [1, 5, 6], removed: [2] });
  await late.end();
  await store.close();
});

// Needs a transaction that stays open, and counters that a database in this process does not have.
it('does not read again what changed since a transaction began that is still open (PostgreSQL)', async () => {
  const url = await freshDatabase();
  const store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  const [open, sql] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([open.connect(), sql.connect()]);
  const rowsRead = async () => {
    const { rows } = await sql.query<{ changed: number; removed: number }>(
      `SELECT c.idx_tup_read::integer AS changed, r.idx_tup_read::integer AS removed
       FROM pg_stat_user_indexes c, pg_stat_user_indexes r
       WHERE c.indexrelname = 'cards_changed' AND r.indexrelname = 'card_removals_pkey'`,
    );
    return rows[0] as { changed: number; removed: number };
  };
  await open.query('BEGIN');
  await open.query('SELECT pg_current_xact_id()');
  await addCards(store, ...range(3_000));
  await sql.query('DELETE FROM cards WHERE card_id > 1000');
  const mark = await store.cards.changeMark();
  await sql.query('UPDATE cards SET status = 2 WHERE card_id = 1');
  await sql.query('DELETE FROM cards WHERE card_id = 2');
  await store.close();

  const before = await rowsRead();
  const another = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  expect(await another.cards.changesSince(mark, 100)).toMatchObject({
    changed: [{ cardId: 1 }],
    removed: [2],
    caughtUp: true,
  });
  // The server counts what a connection has read when that ends.
  await another.close();
  const read = await waitFor(
    async () => {
      const { changed, removed } = await rowsRead();
      return changed > before.changed && removed > before.removed
        ? [changed - before.changed, removed - before.removed]
        : null;
    },
    { what: 'the counters of the connection' },
  );
  expect(Math.max(...read), `${read} rows`).toBeLessThan(100);
  await Promise.all([open.end(), sql.end()]);
});
