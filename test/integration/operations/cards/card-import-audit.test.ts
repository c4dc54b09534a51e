// Imports as operators make them: what the audit trail keeps of one that ends, fails or writes nothing, and what it does to
// the number of cards. How a file is read: card-import.test.ts.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { Audit } from '../../../../src/operations/audit.ts';
import { CardTotal } from '../../../../src/operations/cards/card-total.ts';
import { CardOperations } from '../../../../src/operations/cards/cards.ts';
import type { AuditRecords } from '../../../../src/store/ports/records/audit-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { waitFor } from '../../../support/wait-for.ts';

const CSV = { format: 'csv', dryRun: false } as const;
const CHUNK = 10_000;

let stores: OperatedStores;
let clock: FakeClock;
let total: CardTotal;
/** Of this test alone: entries of the trail stay. */
let actor: Actor;
let tests = 0;

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  await stores.sql('DELETE FROM cards');
  clock = new FakeClock();
  total = new CardTotal(stores.records.cards, clock);
  tests += 1;
  actor = { name: `anna ${tests}`, role: 'admin', address: null, requestId: null };
});

/** @param append whether, and how, an entry of the trail is kept. */
function cardsOver(append?: AuditRecords['append']): CardOperations {
  const { live, records } = stores;
  const calendar = new MonthCalendar('Asia/Shanghai');
  const kept = { ...records, audit: append === undefined ? records.audit : { ...records.audit, append } };
  const audit = new Audit({ records: kept, clock, calendar, log: { info: () => {} } });
  return new CardOperations({ audit, live, records, cardTotal: total, clock, calendar });
}

const row = (cardId: number) => `${cardId},8986${String(cardId).padStart(16, '0')}\n`;
const file = (...rows: string[]) => Readable.from(['card_id,iccid\n', ...rows]);

/** A file that breaks off once its first chunk of cards is there. */
function breaking(): Readable {
  return Readable.from(
    (async function* () {
      yield 'card_id,iccid\n';
      for (let id = 1; id <= CHUNK; id += 1000) {
        yield Array.from({ length: 1_000 }, (_, i) => row(id + i)).join('');
      }
      await waitFor(async () => (await stores.records.cards.count()) === CHUNK);
      throw new Error('connection lost');
    })(),
  );
}

/** Oldest first. */
async function trace(): Promise<unknown[]> {
  const filter = { sinceMs: null, untilMs: null, actor: actor.name, action: null, object: null };
  const { items } = await stores.records.audit.list(filter, { offset: 0, limit: 10 });
  return items.toReversed().map(({ action, object, before, after }) => ({ action, object, before, after }));
}

const entry = (verb: string, after: object) => ({
  action: `cards.import.${verb}`,
  object: 'cards',
  before: null,
  after,
});

describe('the trail', () => {
  it('says that an import began, and what it came to', async () => {
    await cardsOver().import(actor, file(row(1), row(2)), CSV);
    const report = await cardsOver().import(actor, file(row(2), row(3), row(4), 'x,y\n'), CSV);
    const counts = { received: 4, inserted: 2, updated: 0, unchanged: 1, rejected: 1 };
    expect(report).toMatchObject({
      ...counts,
      overPackage: 0,
      errors: [expect.anything()],
      errorsTruncated: false,
      ignoredColumns: [],
    });
    expect((await trace()).slice(2)).toEqual([
      entry('begin', { format: 'csv' }),
      entry('end', expect.objectContaining({ ...counts, over_package: 0 })),
    ]);
  });

  it('names the format', async () => {
    const line = `{"card_id": 1, "iccid": "${'1'.repeat(20)}"}`;
    await cardsOver().import(actor, Readable.from([line]), { format: 'ndjson', dryRun: false });
    expect((await trace())[0]).toEqual(entry('begin', { format: 'ndjson' }));
  });

  it('says why an import broke off half-way, once for all its chunks', async () => {
    await expect(cardsOver().import(actor, breaking(), CSV)).rejects.toThrow('connection lost');
    expect(await trace()).toEqual([
      entry('begin', { format: 'csv' }),
      entry('failed', { error: 'connection lost', inserted: CHUNK, updated: 0 }),
    ]);
  });

  it('an import of two chunks begins once in the trail', async () => {
    const rows = Array.from({ length: CHUNK + 1 }, (_, i) => row(i + 1));
    await cardsOver().import(actor, file(...rows), CSV);
    const counts = { received: CHUNK + 1, inserted: CHUNK + 1, updated: 0, unchanged: 0, rejected: 0 };
    expect(await trace()).toEqual([
      entry('begin', { format: 'csv' }),
      entry('end', expect.objectContaining({ ...counts, over_package: 0 })),
    ]);
  });

  it('comes first: without it no card is written', async () => {
    const full = new Error('no room');
    await expect(cardsOver(() => Promise.reject(full)).import(actor, file(row(1)), CSV)).rejects.toBe(full);
    expect(await stores.records.cards.count()).toBe(0);
  });

  it('a trail that fails too does not hide why the import failed', async () => {
    let entries = 0;
    const once = async () => {
      entries += 1;
      if (entries > 1) throw new Error('no room');
    };
    await expect(cardsOver(once).import(actor, breaking(), CSV)).rejects.toThrow('connection lost');
    expect(entries, 'the import, and its failure').toBe(2);
  });
});

describe('an import that writes nothing leaves no trace', () => {
  it.each([
    ['of bad rows', ['x,y\n'], CSV, { rejected: 1 }],
    ['of a header', [], CSV, { received: 0 }],
    ['tried out', [row(1), row(2)], { ...CSV, dryRun: true }, { received: 2, inserted: 2 }],
  ])('%s', async (_, rows, how, report) => {
    expect(await cardsOver().import(actor, file(...rows), how)).toMatchObject(report);
    expect(await stores.records.cards.count()).toBe(0);
    expect(await trace()).toEqual([]);
  });

  it('a file that is refused', async () => {
    await expect(cardsOver().import(actor, Readable.from(['id\n']), CSV)).rejects.toMatchObject({
      kind: 'bad_data',
    });
    expect(await trace()).toEqual([]);
  });
});

describe('the number of cards', () => {
  it('grows by the new cards before they are counted again', async () => {
    const slow = {
      estimate: async () => 0,
      async count() {
        clock.advance(10_000);
        return 100;
      },
    };
    total = new CardTotal(slow, clock);
    expect(await total.read(0)).toBe(100);
    await cardsOver().import(actor, file(row(1), row(2)), CSV);
    expect(await total.read(0)).toBe(102);
    await cardsOver().import(actor, file(row(2), row(3)), CSV);
    expect(await total.read(0)).toBe(103);
    await cardsOver().import(actor, file(row(4)), { ...CSV, dryRun: true });
    expect(await total.read(0)).toBe(103);
  });

  it('is counted again after an import that broke off', async () => {
    expect(await total.read(0)).toBe(0);
    await expect(cardsOver().import(actor, breaking(), CSV)).rejects.toThrow();
    await waitFor(async () => (await total.read(0)) === CHUNK);
  });
});
