// Numbers of a file whose decimal mark its other numbers prove, or do not. Imported into a real PostgreSQL, because a row that
// waits for the proof is written later than the rows around it.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMatcher } from '../../../../src/domain/schedule/polling-config.ts';
import { importCards } from '../../../../src/operations/cards/card-import.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';
import { query } from '../../../support/postgres-server.ts';

let url: string;
let store: RecordStore;

beforeAll(async () => {
  url = await freshDatabase();
  store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await store.migrations.up();
});
beforeEach(async () => {
  await query(url, 'DELETE FROM cards');
});
afterAll(() => store.close());

/** No configs: none of a task type, so no card is said to be selected by none of them. */
const NONE = new ConfigMatcher([]);
const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;

function* semicolons(allowances: readonly string[]): Generator<string> {
  yield 'card_id;iccid;allowance_mb\n';
  for (const [i, allowance] of allowances.entries()) yield `${i + 1};${iccidOf(i + 1)};${allowance}\n`;
}

const importOf = (allowances: readonly string[]) =>
  importCards(store.cards, Readable.from(semicolons(allowances)), { matcher: NONE, format: 'csv' });
const ALL = { carrierId: null, status: null, stopped: null, vendorId: null };
const stored = async () => (await store.cards.list(ALL, 0, 100)).cards.map(({ allowanceMb }) => allowanceMb);

describe('a number that may be read in two ways', () => {
  it.each([
    [
      ['1.024', '2.048'],
      "line 2: allowance_mb '1.024' is 1024 with '.' between thousands, or 1.024 with '.' as its decimal mark",
    ],
    [
      ['500', '12,345'],
      "line 3: allowance_mb '12,345' is 12345 with ',' between thousands, or 12.345 with ','",
    ],
    [['10.000'], "'10.000' is 10000 with '.' between thousands, or 10 with"],
    [['1.024', '1,024'], 'no number up to line 3 proves which'],
    [['1.5', '1,5', '+999.999'], "the file has '1.5' in line 2 and '1,5' in line 3"],
    [['1.5', '1.024', '1,5'], "line 3: allowance_mb '1.024' is"],
  ])(
    'refuses the file when no other number proves the mark, or some prove both: %j',
    async (file, message) => {
      await expect(importOf(file)).rejects.toMatchObject({
        kind: 'bad_data',
        code: 'ambiguous_numbers',
        message: expect.stringContaining(message),
        hint: expect.stringContaining('1.0240'),
      });
      expect(await store.cards.count(), 'of a small file').toBe(0);
    },
  );

  it.each([
    ['a decimal point', ['1.024', '12.5', '1,024', '1.5'], [1.024, 12.5, 1_024, 1.5]],
    ['a zero before the point', ['1.024', '0.250'], [1.024, 0.25]],
    ['a point behind a thousand digits', ['10.000', '1024.000'], [10, 1_024]],
    ['an exponent', ['1.024', '1.024e3'], [1.024, 1_024]],
    ['commas and a point', ['1,024', '1,024.50', '1,234,567'], [1_024, 1_024.5, 1_234_567]],
    ['a decimal comma', ['1.024', '12,5', '500'], [1_024, 12.5, 500]],
    ['points and a comma', ['12.345', '1.024,50', '1,024'], [12_345, 1_024.5, 1.024]],
    ['several points', ['1.024', '1.234.567'], [1_024, 1_234_567]],
  ])('is read when another number of the file proves the mark: %s', async (_, file, expected) => {
    for (const order of [1, -1]) {
      const allowances = order === 1 ? file : file.toReversed();
      const report = await importOf(allowances);
      expect(report).toMatchObject({ received: file.length, rejected: 0, errors: [] });
      expect(await stored()).toEqual(order === 1 ? expected : expected.toReversed());
    }
  });

  it('is not read where only other columns have decimals', async () => {
    const lines = ['card_id;iccid;allowance_mb;price', `1;${iccidOf(1)};1.024;9,90`];
    const input = Readable.from([lines.join('\n')]);
    await expect(
      importCards(store.cards, input, { matcher: NONE, format: 'csv', ignoreColumns: true }),
    ).rejects.toThrow("'1.024' is 1024");
  });

  it('is read in a JSON text by the same rule, and a JSON number has a point', async () => {
    const rows = (...allowances: unknown[]) =>
      Readable.from(
        allowances.map(
          (allowance_mb, i) => `${JSON.stringify({ card_id: i + 1, iccid: iccidOf(i + 1), allowance_mb })}\n`,
        ),
      );
    await expect(
      importCards(store.cards, rows('1.024', 1.5), { matcher: NONE, format: 'ndjson' }),
    ).rejects.toMatchObject({
      code: 'ambiguous_numbers',
    });
    await importCards(store.cards, rows(1.024, null), { matcher: NONE, format: 'ndjson' });
    expect(await stored()).toEqual([1.024, null]);
  });

  it('keeps two certain numbers with different marks, and rejects what is no number', async () => {
    const report = await importOf(['12.5', '12,5', '1.02.4', '1,00,000', "1'024", '1.024,5.5']);
    expect(report).toMatchObject({ received: 6, inserted: 2, rejected: 4 });
    expect(await stored()).toEqual([12.5, 12.5]);
  });

  it('waits over chunks, and the first row of a card still counts', async () => {
    const many = Array.from({ length: 25_000 }, (_, i) => (i % 2 === 0 ? '1.024' : '500'));
    const lines = [...semicolons([...many, '2,5']), `1;${iccidOf(90_000)};7\n`];
    const report = await importCards(store.cards, Readable.from(lines), { matcher: NONE, format: 'csv' });
    expect(report).toMatchObject({
      received: 25_002,
      inserted: 25_001,
      rejected: 1,
      errors: [{ line: 25_003, message: 'card_id 1 appears in an earlier line, too' }],
    });
    const [sum] = await query(url, 'SELECT sum(allowance_mb) FROM cards');
    expect(Number(sum?.sum)).toBe(12_500 * 1_024 + 12_500 * 500 + 2.5);
  });

  it('refuses the file when too many rows wait for a proof', async () => {
    const many = [...Array.from({ length: 100_000 }, () => '1.024'), '2.5'];
    await expect(importOf(many)).rejects.toThrow('no number up to line 100001 proves which');
  });
});
