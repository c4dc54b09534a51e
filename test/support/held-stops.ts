// A served API over a fleet some of whose stops are held, and what its audit trail says. Used by the tests of stops.
import pg from 'pg';
import type { AuditRecord } from '../../src/store/ports/records/audit-records.ts';
import { type ApiUnderTest, type GivenToken, type Reply, startApi } from './api-under-test.ts';
import { freshDatabase, freshRedis } from './fresh-stores.ts';

export interface StopsUnderTest extends ApiUnderTest {
  readonly stores: { readonly redisUrl: string; readonly databaseUrl: string };
  admin(method: string, path: string, json?: unknown, token?: string): Promise<Reply>;
  sql(text: string, params?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** A connection of one's own, to be ended. */
  connect(): Promise<pg.Client>;
  /** Removes all stops and runs, and what was set. */
  reset(): Promise<void>;
  /** Makes the stops of cards 1 to `cards` held, in the present month. */
  hold(cards: number): Promise<void>;
  /** The audit trail of stops since the last reset, oldest first. */
  trail(): Promise<readonly AuditRecord[]>;
}

/** @param cards cards 1 to so many; the odd ones are of carrier 1, the others of carrier 0. */
export async function startStopsApi(
  cards: number,
  tokens: readonly GivenToken[] = [],
  options: Partial<Parameters<typeof startApi>[0]> = {},
): Promise<StopsUnderTest> {
  const stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
  const api = await startApi({ ...stores, tokens, ...options });
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  const sql: StopsUnderTest['sql'] = async (text, params = []) =>
    (await client.query(text, [...params])).rows;
  await sql(
    `INSERT INTO cards (card_id, iccid, carrier_id, allowance_mb)
     SELECT id, '8986' || lpad(id::text, 16, '0'), id % 2, 1024 FROM generate_series(1, $1) id`,
    [cards],
  );
  async function trail(): Promise<AuditRecord[]> {
    const filter = { sinceMs: null, untilMs: null, actor: null, action: 'stops', object: null };
    return (await api.records.audit.list(filter, { offset: 0, limit: 1_000 })).items.toReversed();
  }
  let before = 0;
  return {
    ...api,
    stores,
    sql,
    async connect() {
      const own = new pg.Client({ connectionString: stores.databaseUrl });
      await own.connect();
      return own;
    },
    admin: (method, path, json, token) =>
      api.call(method, `/api/admin${path}`, {
        ...(json === undefined ? {} : { json }),
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      }),
    async reset() {
      await sql('TRUNCATE card_stops, resume_runs, card_resumes');
      await sql(`UPDATE stop_control SET mode = NULL, mode_since = NULL, mode_by = NULL, mode_reason = NULL,
        jump_since = NULL, jump_accepted_at = NULL`);
      await sql('UPDATE cards SET stopped = false WHERE stopped');
      // The trail is in order of time; entries of concurrent changes may have their ids in another order.
      before = Math.max(0, ...(await trail()).map(({ id }) => id));
    },
    async hold(count) {
      await sql(
        `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by, attempts)
         SELECT card_id, date_trunc('month', now())::date, iccid, 2048, 1024, 'held', 'budget_hour', 0
         FROM cards WHERE card_id <= $1`,
        [count],
      );
    },
    trail: async () => (await trail()).filter(({ id }) => id > before),
    async close() {
      await client.end();
      await api.close();
    },
  };
}
