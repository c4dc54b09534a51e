// Cards at the operations: one in full, with when it is polled next, and all of them, by stretches and as a file.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nextDueAt } from '../../../../src/domain/schedule/phase.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import type { RingState } from '../../../../src/store/ports/live/rings.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const NOBODY = { realname: null, carddata: null, package: null };
const ANY = { carrierId: null, status: null, stopped: null, vendorId: null };
const EVERY_MS = 1_024_000;
/** In Shanghai it is November. */
const START = '2026-10-31T20:00:00Z';

const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;

let database: OperatedStores;
let clock: FakeClock;
let stores: OperatedStores;
let cards: Operations['cards'];

beforeAll(async () => {
  database = await openOperatedStores();
  await database.sql(`INSERT INTO cards (card_id, iccid, carrier_id, status, allowance_mb, real_name_verified, stopped)
    SELECT id, '8986' || lpad(id::text, 16, '0'), id % 4, id % 3, nullif(id, 2) * 1.5, id = 2, id = 3
    FROM generate_series(1, 12) id`);
  await database.sql(`DELETE FROM polling_configs; INSERT INTO polling_configs
    (id, name, task_type, card_condition, interval_seconds, status)
    VALUES (1, 'names', 'realname', 'not_verified', 1024, 1), (2, 'names', 'realname', 'verified', 1024, 0),
      (3, 'traffic', 'carddata', 'any', 1024, 1)`);
  await database.records.results.ensurePartitions('2026-11');
});
afterAll(() => database.close());
beforeEach(async () => {
  clock = new FakeClock(START);
  stores = await openOperatedStores({ databaseOf: database, clock });
  cards = stores.operations().cards;
});
afterEach(() => stores.close());

/** A ring of some cards, and where it stands. */
async function fill(configId: number, taskType: TaskType, cardIds: readonly number[]): Promise<RingState> {
  const { rings } = stores.live;
  const ring = { configId, taskType };
  await rings.configure(ring, { intervalMs: EVERY_MS, enabled: true });
  await rings.startGeneration(ring, 1_024);
  await rings.add(ring, cardIds);
  await rings.activate(ring);
  return (await rings.list()).find(
    (one) => one.configId === configId && one.taskType === taskType,
  ) as RingState;
}

async function piecesOf(text: AsyncIterable<string>): Promise<string[]> {
  const pieces = [];
  for await (const piece of text) pieces.push(piece);
  return pieces;
}

describe('a card', () => {
  it.each(['2', iccidOf(2)])('is shown in full, by its id or iccid: %s', async (key) => {
    expect(await cards.show(key)).toEqual({
      cardId: 2,
      iccid: iccidOf(2),
      carrierId: 2,
      status: 2,
      realNameVerified: true,
      stopped: false,
      allowanceMb: null,
      vendorId: null,
      usedMbMonth: 0,
      usageMonth: '2026-11',
      lastPolledAt: NOBODY,
      nextDueAt: NOBODY,
    });
    expect(await cards.show('3')).toMatchObject({ realNameVerified: false, stopped: true, allowanceMb: 4.5 });
  });

  it.each(['99', '0', '', 'x', '1x', 'x1', iccidOf(99), '1'.repeat(23)])(
    'a card that is not there is not found: %j',
    async (key) => {
      await expect(cards.show(key)).rejects.toMatchObject({
        kind: 'not_found',
        code: 'card_not_found',
        message: `there is no card ${key}`,
      });
    },
  );

  it('says when it was polled last, and what it used this month', async () => {
    const readAtMs = clock.now();
    const next = {
      month: '2026-11',
      usedMb: 12.5,
      lastReadingMb: 40,
      suspectedMb: null,
      jump: null,
      readAtMs,
    };
    await stores.records.results.write([
      { cardId: 4, taskType: 'carddata', polledAtMs: readAtMs, usage: { next, basedOnReadAtMs: null } },
      { cardId: 4, taskType: 'package', polledAtMs: readAtMs + 7 },
    ]);
    expect(await cards.show('4')).toMatchObject({
      usedMbMonth: 12.5,
      lastPolledAt: { realname: null, carddata: new Date(readAtMs), package: new Date(readAtMs + 7) },
    });
    clock.set('2026-12-01T00:00:00+08:00');
    expect(await cards.show('4')).toMatchObject({ usedMbMonth: 0, usageMonth: '2026-12' });
  });
});

describe('when a card is due next', () => {
  it('is computed from the ring of the config that polls it, for each task type', async () => {
    await fill(3, 'realname', [5]);
    clock.advance(5_000);
    const names = await fill(1, 'realname', [5]);
    clock.advance(5_000);
    const traffic = await fill(3, 'carddata', [4, 5]);
    expect((await cards.show('5')).nextDueAt).toEqual({
      realname: new Date(nextDueAt(names, 5)),
      carddata: new Date(nextDueAt(traffic, 5)),
      package: null,
    });
    expect((await cards.show('4')).nextDueAt, 'loaded into one ring only').toMatchObject({ realname: null });
  });

  it('is unknown while its config or its ring is off', async () => {
    await fill(2, 'realname', [2]);
    await fill(3, 'carddata', [2]);
    expect((await cards.show('2')).nextDueAt).toMatchObject({ realname: null, carddata: expect.any(Date) });
    await stores.live.rings.configure(
      { configId: 3, taskType: 'carddata' },
      { intervalMs: EVERY_MS, enabled: false },
    );
    expect((await cards.show('2')).nextDueAt).toEqual(NOBODY);
  });

  it('is unknown before its ring was built', async () => {
    await stores.live.rings.configure(
      { configId: 3, taskType: 'carddata' },
      { intervalMs: EVERY_MS, enabled: true },
    );
    expect((await cards.show('2')).nextDueAt).toEqual(NOBODY);
  });

  it('comes from the queue and the retry lane, whatever became of its config', async () => {
    const { rings, work } = stores.live;
    const due = nextDueAt(await fill(2, 'realname', [2]), 2);
    clock.advance(EVERY_MS);
    await rings.advance({ configId: 2, taskType: 'realname' }, { maxBuckets: 2_048, queueCap: 10, fence: 1 });
    expect((await cards.show('2')).nextDueAt).toEqual({ ...NOBODY, realname: new Date(due) });
    const request = { instanceId: 'w', claimNumber: stores.nextClaim(), max: 1, leaseMs: 600_000 };
    const [item] = (await work.claim('realname', request)).items;
    if (item === undefined) throw new Error('nothing was due');
    const failed = { item, verdict: 'failed', random: 0.5, waitMs: 90_000 } as const;
    await work.settle('realname', [failed], { baseMs: 1_000, capMs: 600_000 });
    expect((await cards.show('2')).nextDueAt).toEqual({
      ...NOBODY,
      realname: new Date(clock.now() + 90_000),
    });
  });
});

describe('the cards', () => {
  it.each([
    [ANY, [1, 2, 3, 4, 5], 5],
    [{ ...ANY, carrierId: 1 }, [1, 5, 9], null],
    [{ ...ANY, status: 0 }, [3, 6, 9, 12], null],
    [{ ...ANY, carrierId: 3, status: 0, stopped: true }, [3], null],
    [{ ...ANY, stopped: true, carrierId: 0 }, [], null],
  ])('the cards that match %j are listed by id', async (filter, ids, nextAfterId) => {
    const listed = await cards.list(filter, 0, 5);
    expect(listed.items.map(({ cardId }) => cardId)).toEqual(ids);
    expect(listed.nextAfterId).toBe(nextAfterId);
  });

  it('go on after the last one listed', async () => {
    const { items, nextAfterId } = await cards.list(ANY, 10, 5);
    expect(items).toEqual([
      expect.objectContaining({ cardId: 11 }),
      {
        ...{ cardId: 12, iccid: iccidOf(12), carrierId: 0, status: 0 },
        ...{ allowanceMb: 18, vendorId: null, realNameVerified: false, stopped: false },
      },
    ]);
    expect(nextAfterId).toBeNull();
  });
});

describe('an export', () => {
  const HEADER = 'card_id,iccid,carrier_id,status,allowance_mb,vendor_id,real_name_verified\n';
  const LOW = { ...ANY, status: 2 };

  it('is a file an import takes', async () => {
    expect(await piecesOf(cards.export(LOW, 'csv'))).toEqual([
      HEADER,
      [
        `2,${iccidOf(2)},2,2,,,true\n`,
        `5,${iccidOf(5)},1,2,7.5,,false\n`,
        `8,${iccidOf(8)},0,2,12,,false\n`,
        `11,${iccidOf(11)},3,2,16.5,,false\n`,
      ].join(''),
    ]);
    const [text = ''] = await piecesOf(cards.export(LOW, 'ndjson'));
    expect(text.split('\n').slice(0, 2)).toEqual([
      `{"card_id":2,"iccid":"${iccidOf(2)}","carrier_id":2,"status":2,"allowance_mb":null,"vendor_id":null,"real_name_verified":true}`,
      `{"card_id":5,"iccid":"${iccidOf(5)}","carrier_id":1,"status":2,"allowance_mb":7.5,"vendor_id":null,"real_name_verified":false}`,
    ]);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('an export of no card has no line', async () => {
    const none = { ...ANY, carrierId: 99 };
    expect(await piecesOf(cards.export(none, 'csv'))).toEqual([HEADER]);
    expect(await piecesOf(cards.export(none, 'ndjson'))).toEqual([]);
  });

  it('holds every card, a stretch at a time', async () => {
    await stores.sql(`INSERT INTO cards (card_id, iccid, status)
      SELECT id, '8986' || lpad(id::text, 16, '0'), 7 FROM generate_series(1001, 3500) id`);
    const stretches = await piecesOf(cards.export({ ...ANY, status: 7 }, 'csv'));
    expect(stretches.slice(1).map((text) => text.split('\n').length - 1)).toEqual([1_000, 1_000, 500]);
    const ids = stretches.slice(1).flatMap((text) => text.match(/^\d+/gm)?.map(Number) ?? []);
    expect(ids).toEqual(Array.from({ length: 2_500 }, (_, i) => 1_001 + i));
    await stores.sql('DELETE FROM cards WHERE status = 7');
  });
});
