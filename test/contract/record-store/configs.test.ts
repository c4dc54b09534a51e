// Polling configs and durable concurrency limits.
import { expect, it } from 'vitest';
import { perTaskType, TASK_TYPES } from '../../../src/domain/task-type.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { query } from '../../support/postgres-server.ts';
import { describeRecordStore } from './stores.ts';

const limitsOf = async ({ configs }: Pick<RecordStore, 'configs'>) => {
  const record = await configs.recordedLimits();
  return perTaskType((taskType) => record[taskType].maxConcurrency);
};

describeRecordStore('configs', (db) => {
  it('starts with the four recommended configs and 100 tasks of each type', async () => {
    const configs = await db.store.configs.list();
    expect(configs.map((c) => [c.id, c.taskType, c.cardCondition, c.intervalSeconds])).toEqual([
      [1, 'realname', 'not_verified', 60],
      [2, 'realname', 'verified', 3600],
      [3, 'carddata', 'any', 1800],
      [4, 'package', 'any', 1800],
    ]);
    for (const config of configs) expect(config).toMatchObject({ carrierId: null, priority: 0, status: 1 });
    expect(await limitsOf(db.store)).toEqual({ realname: 100, carddata: 100, package: 100 });
  });

  it('has a polling config and a limit of every task type from the start', async () => {
    const configs = await db.store.configs.list();
    expect([...new Set(configs.map(({ taskType }) => taskType))].toSorted()).toEqual(TASK_TYPES.toSorted());
    expect(Object.keys(await limitsOf(db.store)).toSorted()).toEqual(TASK_TYPES.toSorted());
  });

  it('updates what is given and says when there is no such config', async () => {
    expect(await db.store.configs.update(3, { status: 0 })).toMatchObject({
      id: 3,
      status: 0,
      intervalSeconds: 1800,
    });
    expect(await db.store.configs.update(3, { intervalSeconds: 5 })).toMatchObject({
      status: 0,
      intervalSeconds: 5,
    });
    expect(await db.store.configs.update(3, {})).toMatchObject({ status: 0, intervalSeconds: 5 });
    expect(await db.store.configs.update(3, { status: 1, intervalSeconds: 1800 })).toMatchObject({
      status: 1,
    });
    expect(await db.store.configs.update(99, { status: 0 })).toBeNull();
    await expect(db.store.configs.update(3, { intervalSeconds: 0 })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('gives the next config an id of its own', async () => {
    const [added] = await db.sql(
      `INSERT INTO polling_configs (name, task_type, card_condition, interval_seconds)
       VALUES ('Nightly', 'package', 'any', 86400) RETURNING id`,
    );
    expect(added).toEqual({ id: 5 });
    await db.sql('DELETE FROM polling_configs WHERE id = 5');
  });

  it('creates configs, even if SQL took the next id, changes every field and removes them', async () => {
    await db.sql(
      `INSERT INTO polling_configs (id, name, task_type, card_condition, interval_seconds)
       SELECT id, 'mine', 'package', 'any', 60 FROM generate_series(6, 9) id`,
    );
    const wanted = {
      name: 'VIP',
      taskType: 'carddata',
      cardCondition: 'verified',
      carrierId: 7,
      intervalSeconds: 300,
      priority: -2,
      status: 0,
    } as const;
    const created = await db.store.configs.create(wanted);
    expect(created).toEqual({ id: created.id, ...wanted });
    expect(created.id).toBeGreaterThan(9);
    const changes = {
      name: 'all',
      taskType: 'package',
      cardCondition: 'any',
      carrierId: null,
      intervalSeconds: 60,
      priority: 3,
      status: 1,
    } as const;
    for (const [field, value] of Object.entries(changes)) {
      expect(await db.store.configs.update(created.id, { [field]: value })).toMatchObject({ [field]: value });
    }
    expect(await db.store.configs.remove(created.id)).toEqual({ id: created.id, ...changes });
    expect(await db.store.configs.remove(created.id)).toBeNull();
    await db.sql('DELETE FROM polling_configs WHERE id > 4');
  });

  it('has an identity that stays', async () => {
    const fleet = await db.store.fleet();
    expect(fleet).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: expect.any(String) });
    expect(await db.store.fleet()).toEqual(fleet);
    const identity = await db.store.identity();
    expect(identity).not.toBe('');
    expect(await db.store.identity()).toBe(identity);
  });

  it('keeps concurrency limits', async () => {
    await db.store.configs.setConcurrency('package', 250);
    expect(await limitsOf(db.store)).toEqual({ realname: 100, carddata: 100, package: 250 });
    await db.sql(`DELETE FROM concurrency_configs WHERE task_type = 'package'`);
    expect((await limitsOf(db.store)).package).toBe(100);
    await db.store.configs.setConcurrency('package', 100);
    await expect(db.store.configs.setConcurrency('package', 0)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('keeps the pause of an operator until it is over or ended, and gives each a name of its own', async () => {
    const pauses = async () => {
      const record = await db.store.configs.recordedLimits();
      return perTaskType((taskType) => record[taskType].pause);
    };
    const { configs } = db.store;
    expect(await pauses()).toEqual(perTaskType(() => null));
    await configs.pause(['realname', 'package'], { seconds: 60, reason: '维护 "x"', by: 'ann' });
    const first = await pauses();
    expect(first).toMatchObject({
      realname: { reason: '维护 "x"', by: 'ann' },
      carddata: null,
      package: { by: 'ann' },
    });
    expect(first.realname?.leftMs).toBeGreaterThan(30_000);
    expect(first.realname?.leftMs).toBeLessThanOrEqual(60_000);
    // Also where the clock was set back meanwhile.
    await db.sql(`UPDATE pauses SET since = since + interval '1 hour' WHERE task_type = 'realname'`);
    const before = (await pauses()).realname?.id;
    await configs.pause(['realname'], { seconds: 1_000, reason: 'longer', by: 'bob' });
    const second = (await pauses()).realname;
    expect(second).toMatchObject({ reason: 'longer', by: 'bob' });
    expect(Number(second?.id)).toBeGreaterThan(Number(before));
    await configs.endPauses(['realname', 'carddata']);
    expect(await pauses()).toMatchObject({ realname: null, carddata: null, package: { by: 'ann' } });
    await db.sql(`UPDATE pauses SET until = clock_timestamp()`);
    expect((await pauses()).package, 'it is over').toBeNull();
  });

  it('keeps how far each ring came, and forgets it with its config', async () => {
    const mark = (configId: number, handedOutMs: number, taskType = 'carddata' as const) => ({
      configId,
      taskType,
      handedOutMs,
    });
    const config = await db.store.configs.create({
      name: 'c',
      taskType: 'carddata',
      cardCondition: 'any',
      carrierId: null,
      intervalSeconds: 60,
      priority: 0,
      status: 1,
    });
    const saved = async () =>
      (await db.store.configs.ringMarks()).toSorted((a, b) => a.handedOutMs - b.handedOutMs);
    await db.store.configs.saveRingMarks([mark(3, 1_800_000_000_000.5), mark(config.id, 1)]);
    await db.store.configs.saveRingMarks([mark(3, 1_800_000_060_000), mark(config.id + 1, 5)]);
    expect(await saved()).toEqual([mark(config.id, 1), mark(3, 1_800_000_060_000)]);
    await db.store.configs.remove(config.id);
    expect(await saved()).toEqual([mark(3, 1_800_000_060_000)]);
  });
});

it('has another identity once a dump was restored on the same server (PostgreSQL)', async () => {
  const url = await freshDatabase();
  const store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  try {
    const before = await store.identity();
    await query(url, 'ALTER TABLE cards RENAME TO cards_before; CREATE TABLE cards (LIKE cards_before)');
    const after = await store.identity();
    expect(after).not.toBe(before);
    expect(await store.identity()).toBe(after);
  } finally {
    await store.close();
  }
});
