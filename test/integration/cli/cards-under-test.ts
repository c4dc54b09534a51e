// What the tests of `cardpoll cards` begin with: the real API over real stores of its own for each test file, without a card before
// each test, and files of cards.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type CardImport, IMPORT_FIELDS } from '../../../src/domain/cards/card.ts';
import { snakeCase } from '../../../src/platform/snake-keys.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { type CliOptions, cli } from '../../unit/cli/cli-under-test.ts';

export const HEADER = IMPORT_FIELDS.map(snakeCase).join(',');
export const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;
/** A field that is not given is empty. */
const csv = (row: Partial<CardImport>) => `${IMPORT_FIELDS.map((field) => row[field] ?? '').join(',')}\n`;
export const bare = (cardId: number, carrierId = 1, allowanceMb: number | null = null) =>
  csv({ cardId, iccid: iccidOf(cardId), carrierId, status: 1, allowanceMb });
export const lineOf = (cardId: number, { carrier = 1, status = 1, iccid = iccidOf(cardId) } = {}) =>
  csv({ cardId, iccid, carrierId: carrier, status, allowanceMb: 500, realNameVerified: false });
export const fileOf = (lines: readonly string[]) => `${HEADER}\n${lines.join('')}`;
export const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

export function cardsUnderTest() {
  let api: ApiUnderTest;
  let sql: pg.Client;
  let env: Record<string, string>;
  beforeAll(async () => {
    const redis = await freshRedis();
    const databaseUrl = await freshDatabase();
    api = await startApi({ redisUrl: redis.url, databaseUrl });
    sql = new pg.Client({ connectionString: databaseUrl });
    await sql.connect();
    env = { CARDPOLL_URL: `http://${api.server.address}` };
  });
  afterAll(async () => {
    await sql.end();
    await api.close();
  });
  beforeEach(async () => {
    await sql.query('DELETE FROM cards');
  });
  const cards = (argv: readonly string[], options: CliOptions = {}) =>
    cli(['cards', ...argv], { env, ...options });
  return {
    get api() {
      return api;
    },
    get env() {
      return env;
    },
    cards,
    given: async (lines: readonly string[]): Promise<void> => {
      expect(await cards(['import', '-'], { input: fileOf(lines) })).toMatchObject({ code: 0 });
    },
  };
}
