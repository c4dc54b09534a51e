// Imports into a real PostgreSQL: chunks, what spans them, and what a broken input leaves. How a row is read is in the unit
// tests of card-file, and what a chunk does to cards in the contract suite.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import { importCards } from '../../../../src/operations/cards/card-import.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { firstRows } from '../../../support/effort.ts';
import { emptyDatabase, freshDatabase } from '../../../support/fresh-stores.ts';
import { Gate } from '../../../support/gated-port.ts';
import { query } from '../../../support/postgres-server.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** No configs: none of a task type, so no card is said to be selected by none of them. */
const NONE = new ConfigMatcher([]);
const HEADER = 'card_id,iccid,carrier_id,status,allowance_mb,real_name_verified\n';

let url: string;
let store: RecordStore;

function iccidOf(cardId: number): string {
  return `8986${String(cardId).padStart(16, '0')}`;
}

function csv(...lines: string[]): Readable {
  return Readable.from([Buffer.from(lines.join('\n'))]);
}

/** A file of many cards, in pieces, as they would come over the network. */
function fleet(cards: number): Readable {
  return Readable.from(
    (function* () {
      yield HEADER;
      for (let first = 1; first <= cards; first += 700) {
        const count = Math.min(700, cards - first + 1);
        const lines = Array.from(
          { length: count },
          (_, i) => `${first + i},${iccidOf(first + i)},1,1,1024,\n`,
        );
        yield Buffer.from(lines.join(''));
      }
    })(),
    { objectMode: false },
  );
}

const NOTHING_DONE = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  stoppedWithin: 0,
  conflicts: [],
  overPackage: 0,
  newIccids: 0,
  rounded: [],
  twins: [],
  refused: false,
  former: [],
};

beforeAll(async () => {
  url = await freshDatabase();
  store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await store.migrations.up();
});
beforeEach(async () => {
  await query(url, 'DELETE FROM cards');
});
afterAll(() => store.close());

describe('importCards', () => {
  it('imports a fleet in chunks, and the same file again changes nothing', async () => {
    const chunks: unknown[] = [];
    const importChunk: RecordStore['cards']['importChunk'] = async (rows, options) => {
      chunks.push([rows.length, options?.expectNew]);
      return store.cards.importChunk(rows, options);
    };
    const first = await importCards({ importChunk }, fleet(25_000), { matcher: NONE, format: 'csv' });
    const none = { rejected: 0, overPackage: 0, errors: [], errorsTruncated: false, ignoredColumns: [] };
    expect(first).toMatchObject({ received: 25_000, inserted: 25_000, updated: 0, unchanged: 0, ...none });
    const expected = [
      [10_000, false],
      [10_000, true],
      [5_000, true],
    ];
    expect(chunks.splice(0)).toEqual(expected);
    expect(await store.cards.count()).toBe(25_000);
    const again = await importCards({ importChunk }, fleet(25_000), { matcher: NONE, format: 'csv' });
    expect(chunks).toEqual(expected.map(([rows]) => [rows, false]));
    expect(again).toMatchObject({ received: 25_000, inserted: 0, updated: 0, unchanged: 25_000, ...none });
  });

  it('names carriers whose cards no enabled config selects, of the rows that are kept', async () => {
    const config = (taskType: TaskType, carrierId: number | null, status: 0 | 1): PollingConfig => ({
      ...{ id: 1, name: taskType, taskType, carrierId, status, cardCondition: 'any', priority: 1 },
      ...{ intervalSeconds: 60 },
    });
    const matcher = new ConfigMatcher([
      config('realname', null, 1),
      config('carddata', 1, 1),
      config('package', 1, 0),
    ]);
    const rows = [
      `1,${iccidOf(1)},1,1,1024,`,
      `2,${iccidOf(2)},7,1,1024,true`,
      `3,${iccidOf(3)},7,1,1024,`,
      `4,${iccidOf(3)},9,1,1024,`,
    ];
    const input = Readable.from([Buffer.from(`${HEADER}${rows.join('\n')}\n`)]);
    const report = await importCards(store.cards, input, { matcher, format: 'csv' });
    expect(report).toMatchObject({ inserted: 3, rejected: 1 });
    expect(report.unselected).toEqual([{ taskType: 'carddata', carrierId: 7, cards: 2 }]);
  });

  it('copies a chunk of new cards straight into their table', async () => {
    const other = await openPostgresRecordStore({ url, applicationName: 'copies', maxConnections: 1 });
    const card = { carrierId: 0, status: 1, allowanceMb: null, vendorId: null, realNameVerified: null };
    const chunk = [{ ...card, cardId: 1, iccid: iccidOf(1) }];
    expect(await other.cards.importChunk(chunk, { expectNew: true })).toMatchObject({ inserted: 1 });
    // Any other chunk leaves the temporary table of its connection, which is the only one.
    const tables =
      "SELECT FROM pg_class WHERE relname = 'import_rows' AND pg_is_other_temp_schema(relnamespace)";
    const before = (await query(url, tables)).length;
    expect(await other.cards.importChunk(chunk, { expectNew: true })).toMatchObject({ unchanged: 1 });
    expect(await query(url, tables)).toHaveLength(before + 1);
    await other.close();
  });

  it('refuses a vendor id that another card has, by line, with the card named', async () => {
    const file = (...rows: string[]) => csv('card_id,iccid,vendor_id', ...rows);
    await importCards(store.cards, file(`1,${iccidOf(1)},sim-a`, `2,${iccidOf(2)},sim-b`), {
      matcher: NONE,
      format: 'csv',
    });
    const rows = [
      `1,${iccidOf(1)},sim-b`, // of a card whose row keeps it
      `2,${iccidOf(2)},sim-b`,
      `3,${iccidOf(3)},sim-a`,
      `4,${iccidOf(4)},sim-d`,
      `5,${iccidOf(5)},-`,
      `6,${iccidOf(6)},-`,
    ];
    const errors = [
      { line: 2, message: 'vendor_id sim-b belongs to card 2' },
      { line: 3, message: 'vendor_id sim-b appears in an earlier line, too' },
      { line: 4, message: 'vendor_id sim-a belongs to card 1' },
    ];
    for (const dryRun of [true, false]) {
      const report = await importCards(store.cards, file(...rows), { matcher: NONE, format: 'csv', dryRun });
      expect(report).toMatchObject({ inserted: 3, updated: 0, rejected: 3, errors });
    }
  });

  it('exchanges ICCIDs between cards whose rows are far apart', async () => {
    const far = 25_000;
    await importCards(store.cards, fleet(far), { matcher: NONE, format: 'csv' });
    const change = { 1: far, [far]: 1, 12345: far + 1, 2: 12_345 } as Record<number, number>;
    const file = (only: (id: number) => boolean = () => true) =>
      csv(
        HEADER.trim(),
        ...Array.from({ length: far }, (_, at) => at + 1)
          .filter(only)
          .map((id) => `${id},${iccidOf(change[id] ?? id)},1,1,1024,`),
      );
    const asked = await importCards(
      store.cards,
      file((id) => id !== 2),
      { matcher: NONE, format: 'csv', dryRun: true },
    );
    expect(asked, 'a dry run').toMatchObject({ updated: 3, rejected: 0, newIccids: 3 });
    const report = await importCards(store.cards, file(), { matcher: NONE, format: 'csv' });
    expect(report).toMatchObject({
      received: far,
      updated: 4,
      unchanged: far - 4,
      rejected: 0,
      newIccids: 4,
    });
    for (const [id, iccid] of Object.entries(change))
      expect(await store.cards.find(id)).toMatchObject({ iccid: iccidOf(iccid) });
  });

  it('refuses a row once, by line, whose number its holder keeps to the end', async () => {
    await importCards(store.cards, fleet(12_000), { matcher: NONE, format: 'csv' });
    const rows = Array.from(
      { length: 12_000 },
      (_, at) => `${at + 1},${iccidOf(at === 0 ? 12_000 : at + 1)},1,1,1024,`,
    );
    const report = await importCards(store.cards, csv(HEADER.trim(), ...rows.slice(0, -1)), {
      matcher: NONE,
      format: 'csv',
    });
    const errors = [{ line: 2, message: `iccid ${iccidOf(12_000)} belongs to card 12000` }];
    expect(report).toMatchObject({ received: 11_999, updated: 0, unchanged: 11_998, rejected: 1, errors });
  });

  it('keeps the good rows and reports the bad ones by line', async () => {
    const report = await importCards(
      store.cards,
      csv(
        '\uFEFFcard_id,iccid,status\r',
        `1,${iccidOf(1)},1\r`,
        `2,${iccidOf(2)},one\r`,
        '\r',
        `3,"${iccidOf(3)}",1\r`,
        '4,123,1\r',
        `5,${iccidOf(5)}\r`,
        `6,${iccidOf(1)},1\r`,
        `7,${iccidOf(7)},"1\r`,
        `0,${iccidOf(9)},1"\r`,
        `8,${iccidOf(8)},1`,
      ),
      { matcher: NONE, format: 'csv' },
    );
    expect(report).toMatchObject({ received: 8, inserted: 3, updated: 0, unchanged: 0, rejected: 5 });
    expect(report.errors).toEqual([
      { line: 3, message: expect.stringContaining("status 'one'") },
      { line: 6, message: expect.stringContaining("iccid '123'") },
      { line: 7, message: '2 fields instead of 3' },
      { line: 8, message: `iccid ${iccidOf(1)} appears in an earlier line, too` },
      { line: 9, message: expect.stringContaining("status '1?0,8986") },
    ]);
    expect((await store.cards.page(0, 10)).map((card) => card.cardId)).toEqual([1, 3, 8]);
  });

  it('takes no row of a note for a card, and writes nothing of a chunk whose quotes do not match', async () => {
    const file = (...rows: string[]) => csv('card_id,iccid,allowance_mb,note', ...rows);
    const options = { matcher: NONE, format: 'csv', ignoreColumns: true } as const;
    const note = `1,${iccidOf(1)},100,"was:\n2,${iccidOf(2)},1,old\nsince May"`;
    const report = await importCards(store.cards, file(note, `3,${iccidOf(3)},100,ok`), options);
    expect(report).toMatchObject({ received: 2, inserted: 2, rejected: 0 });
    const wrong = [note.replace('was:', 'was "x",'), note.slice(0, -1)];
    for (const row of wrong) {
      const refused = importCards(store.cards, file(`4,${iccidOf(4)},100,ok`, row), options);
      await expect(refused).rejects.toMatchObject({ code: 'bad_import_quotes' });
    }
    expect((await store.cards.page(0, 10)).map((card) => card.cardId)).toEqual([1, 3]);
  });

  it('lets the first of several rows of one card win', async () => {
    const report = await importCards(
      store.cards,
      csv(HEADER.trim(), `1,${iccidOf(1)},1,5,,`, `2,${iccidOf(2)},1,1,,`, `1,${iccidOf(1)},1,6,,`),
      { matcher: NONE, format: 'csv' },
    );
    expect(report).toMatchObject({ received: 3, inserted: 2, rejected: 1 });
    expect(report.errors).toEqual([{ line: 4, message: 'card_id 1 appears in an earlier line, too' }]);
    expect(await store.cards.find('1')).toMatchObject({ status: 5 });
  });

  it('reports a card_id and an iccid that come twice far apart, in a dry run as in the run', async () => {
    const rows = Array.from({ length: 25_000 }, (_, i) => `${i + 1},${iccidOf(i + 1)}`);
    const lines = ['card_id,iccid', ...rows, `17,${iccidOf(90_000)}`, `90001,${iccidOf(18)}`];
    for (const dryRun of [true, false]) {
      const report = await importCards(store.cards, csv(...lines), { matcher: NONE, format: 'csv', dryRun });
      expect(report).toMatchObject({ received: 25_002, inserted: 25_000, updated: 0, rejected: 2 });
      expect(report.errors).toEqual([
        { line: 25_002, message: 'card_id 17 appears in an earlier line, too' },
        { line: 25_003, message: `iccid ${iccidOf(18)} appears in an earlier line, too` },
      ]);
    }
    expect(await store.cards.find('17')).toMatchObject({ iccid: iccidOf(17) });
  });

  it('ignores unknown columns only when asked to, and names them', async () => {
    const text = () => csv('card_id,note,iccid', `1,"a ""quoted"" note",${iccidOf(1)}`);
    await expect(importCards(store.cards, text(), { matcher: NONE, format: 'csv' })).rejects.toMatchObject({
      code: 'bad_import_header',
      hint: expect.stringContaining('--ignore-columns'),
    });
    const report = await importCards(store.cards, text(), {
      matcher: NONE,
      format: 'csv',
      ignoreColumns: true,
    });
    expect(report).toMatchObject({ inserted: 1, rejected: 0, ignoredColumns: ["'note'"] });
    const row = csv(JSON.stringify({ card_id: 2, iccid: iccidOf(2), colour: 'red' }));
    expect(
      await importCards(store.cards, row, { matcher: NONE, format: 'ndjson', ignoreColumns: true }),
    ).toMatchObject({
      inserted: 1,
      ignoredColumns: ["'colour'"],
    });
  });

  it('reads NDJSON', async () => {
    const lines = [
      { card_id: 1, iccid: iccidOf(1), allowance_mb: 10.5, real_name_verified: true },
      { card_id: '2', iccid: iccidOf(2), carrier_id: null },
      { card_id: 3, iccid: iccidOf(3), colour: 'red' },
    ];
    const input = csv(...lines.map((line) => JSON.stringify(line)));
    const report = await importCards(store.cards, input, { matcher: NONE, format: 'ndjson' });
    expect(report).toMatchObject({ received: 3, inserted: 2, rejected: 1 });
    expect(report.errors).toEqual([
      { line: 3, message: "unknown field 'colour' (--ignore-columns ignores it)" },
    ]);
    expect(await store.cards.find('1')).toMatchObject({ allowanceMb: 10.5, realNameVerified: true });
  });

  // Seconds of computing: SeenNumbers has the rule in its unit test.
  it.each(firstRows(0, [500_000]))(
    'finds a card that comes twice in a row, also after %i scattered ids, more than it remembers',
    async (count) => {
      const scattered = Array.from({ length: count }, (_, i) => (i + 1) * 1_000_003);
      const lines = [...scattered.map((id) => `${id},${iccidOf(id)}`), `7,${iccidOf(7)}`, `7,${iccidOf(8)}`];
      const importChunk: RecordStore['cards']['importChunk'] = async (rows, options) =>
        rows.length < 10_000
          ? store.cards.importChunk(rows, options)
          : { ...NOTHING_DONE, inserted: rows.length };
      const report = await importCards({ importChunk }, csv(['card_id,iccid', ...lines].join('\n')), {
        matcher: NONE,
        format: 'csv',
      });
      expect(report).toMatchObject({ received: count + 2, inserted: count + 1, rejected: 1 });
      expect(report.errors).toEqual([
        { line: count + 3, message: 'card_id 7 appears in an earlier line, too' },
      ]);
    },
  );

  it('lists the first thousand bad rows and counts the others', async () => {
    const input = csv('card_id,iccid', ...Array.from({ length: 1_500 }, () => 'x,y'), `1,${iccidOf(1)}`);
    const report = await importCards(store.cards, input, { matcher: NONE, format: 'csv' });
    expect(report).toMatchObject({ received: 1_501, inserted: 1, rejected: 1_500, errorsTruncated: true });
    expect(report.errors).toHaveLength(1_000);
    expect(report.errors.at(-1)?.line).toBe(1_001);
  });

  it('lists a thousand bad rows without leaving one out', async () => {
    const input = csv('card_id,iccid', ...Array.from({ length: 1_000 }, () => 'x,y'));
    const report = await importCards(store.cards, input, { matcher: NONE, format: 'csv' });
    expect(report).toMatchObject({ rejected: 1_000, errorsTruncated: false });
    expect(report.errors).toHaveLength(1_000);
  });

  it.each([
    ['an empty file', '', 'empty_import'],
    ['a file of empty lines', '\n\r\n', 'empty_import'],
    ['a wrong header', 'id,iccid\n1,2\n', 'bad_import_header'],
  ])('refuses %s as a whole', async (_, text, code) => {
    const input = Readable.from([text]);
    await expect(importCards(store.cards, input, { matcher: NONE, format: 'csv' })).rejects.toMatchObject({
      kind: 'bad_data',
      code,
    });
    expect(input.destroyed).toBe(true);
  });

  it('keeps the finished chunks when its input breaks, and may be repeated', async () => {
    const broken = Readable.from(
      (async function* () {
        for await (const piece of fleet(25_000)) yield piece;
        await waitFor(async () => (await store.cards.count()) >= 10_000);
        throw new Error('connection lost');
      })(),
    );
    await expect(importCards(store.cards, broken, { matcher: NONE, format: 'csv' })).rejects.toThrow(
      'connection lost',
    );
    // What had arrived and was not read yet is lost with the connection: there may be a chunk more or not.
    const kept = await store.cards.count();
    expect([10_000, 20_000]).toContain(kept);
    const report = await importCards(store.cards, fleet(25_000), { matcher: NONE, format: 'csv' });
    expect(report).toMatchObject({ inserted: 25_000 - kept, unchanged: kept, rejected: 0 });
  });

  it('an import that breaks off waits for its last chunk', async () => {
    const events: string[] = [];
    const gate = new Gate();
    gate.close();
    const { importChunk } = gate.around(store.cards);
    const input = Readable.from(
      (async function* () {
        for await (const piece of fleet(10_001)) yield piece;
        await waitFor(() => gate.waiting > 0);
        setImmediate(() => gate.open());
        throw new Error('connection lost');
      })(),
    );
    const cards: RecordStore['cards'] = {
      ...store.cards,
      importChunk: (rows) => importChunk(rows).finally(() => events.push('written')),
    };
    await expect(importCards(cards, input, { matcher: NONE, format: 'csv' })).rejects.toThrow(
      'connection lost',
    );
    expect(events).toEqual(['written']);
    expect(await store.cards.count()).toBe(10_000);
  });

  it('fails with the store, and stops reading', async () => {
    const unmigrated = await openPostgresRecordStore({
      url: await emptyDatabase(),
      applicationName: 'cardpoll',
    });
    const input = fleet(30_000);
    await expect(
      importCards(unmigrated.cards, input, { matcher: NONE, format: 'csv' }),
    ).rejects.toMatchObject({
      code: 'not_migrated',
    });
    expect(input.destroyed).toBe(true);
    await unmigrated.close();
  });
});

describe('a hostile row', () => {
  const ndjson = (...lines: string[]) => Readable.from([Buffer.from(lines.join('\n'))]);
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it('is a bad row, however deep it is nested', async () => {
    const rows = ['card_id', 'iccid', 'status', 'allowance_mb', 'real_name_verified', 'other'].map(
      (column) => `{"card_id": 1, "iccid": "${iccidOf(1)}", "${column}": ${deep(30_000)}}`,
    );
    const report = await importCards(store.cards, ndjson(...rows), { matcher: NONE, format: 'ndjson' });
    expect(report).toMatchObject({ received: rows.length, rejected: rows.length });
  });

  it('is quoted without what steers a terminal', async () => {
    const rows = [
      '{"card_id": 1, "iccid": "\\u001b[31mred\\u009b2J\\u202e"}',
      '{"card_id": 1, "\\u001b]0;title\\u0007": 2}',
    ];
    const { errors } = await importCards(store.cards, ndjson(...rows), { matcher: NONE, format: 'ndjson' });
    expect(errors).toHaveLength(2);
    for (const { message } of errors) expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const header = importCards(store.cards, csv('card_id,\u001b[2Jiccid', '1,2'), {
      matcher: NONE,
      format: 'csv',
    });
    await expect(header).rejects.toThrow(/^[^\p{Cc}]*$/u);
  });
});
