// The audit trail: what is appended stays as it is until its month goes.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import type { AuditFilter } from '../../../src/store/ports/records/audit-records.ts';
import { describeRecordStore } from './stores.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const ALL = { sinceMs: null, untilMs: null, actor: null, action: null, object: null };
const calendar = new MonthCalendar('Asia/Shanghai');

function entry(fields: Partial<AuditEntry> = {}): AuditEntry {
  return {
    atMs: NOW,
    name: 'anna',
    role: 'operator',
    address: '10.0.0.7',
    requestId: 'r1',
    action: 'concurrency.set',
    object: 'task_type realname',
    before: { maxConcurrency: 100 },
    after: { maxConcurrency: 200 },
    ...fields,
  };
}

describeRecordStore('audit', (db) => {
  beforeEach(async () => {
    for (const { name } of await db.sql(
      "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit'::regclass",
    )) {
      await db.sql(`DROP TABLE ${name}`);
    }
  });

  const append = (...entries: AuditEntry[]) => db.store.audit.append('2026-11', entries);
  const page = { offset: 0, limit: 100 };
  const objects = async (filter: Partial<AuditFilter>) =>
    (await db.store.audit.list({ ...ALL, ...filter }, page)).items.map(({ object }) => object);

  it('keeps entries as they are, in a month whose partition is missing too', async () => {
    await append(entry(), entry({ before: null, after: [], address: null, requestId: null }));
    const { items, total } = await db.store.audit.list(ALL, page);
    expect(total).toBe(2);
    const { id: _, ...first } = items[1] ?? { id: 0 };
    expect(first).toEqual(entry({ before: { max_concurrency: 100 }, after: { max_concurrency: 200 } }));
    expect(items[0]).toMatchObject({ before: null, after: [], address: null, requestId: null });
  });

  it('finds the changes of operators within a time, by their actions, the newest first', async () => {
    const at = (atMs: number, over: Partial<AuditEntry> = {}) => entry({ atMs: NOW + atMs, ...over });
    await append(at(-1), at(0, { object: 'first' }), at(5_000, { object: 'last', action: 'config.update' }));
    await append(
      at(5_001),
      at(9, { action: 'concurrency.reset' }),
      at(9, { role: 'daemon', name: 'daemon' }),
    );
    const within = { fromMs: NOW, toMs: NOW + 5_000 };
    const changes = async (most: number) =>
      (await db.store.audit.changes(within, ['concurrency.set', 'config.update'], most)).map(
        ({ object, atMs }) => [object, atMs - NOW],
      );
    expect(await changes(9)).toEqual([
      ['last', 5_000],
      ['first', 0],
    ]);
    expect(await changes(1)).toEqual([['last', 5_000]]);
  });

  it('finds an entry, and the later ones about its object or that undo it, oldest first', async () => {
    await append(entry(), entry({ object: 'config 1' }), entry({ object: 'config 1', atMs: NOW + 9_000 }));
    const { items } = await db.store.audit.list({ ...ALL, object: 'config' }, page);
    const first = items.at(-1);
    if (first === undefined) throw new Error('there is no entry');
    expect(await db.store.audit.find(first.id)).toEqual(first);
    expect(await db.store.audit.find(first.id + 1_000)).toBeNull();
    await append(
      entry({ object: 'config 2', after: { undoes: first.id } }),
      entry({ object: 'config 3', after: { undoes: 'x' } }),
      entry({ object: 'config 10', after: null }),
      entry({ object: 'config 1', atMs: NOW - 5_000 }),
    );
    const later = await db.store.audit.later(first, ['config 1']);
    expect(later.map(({ object, atMs }) => [object, atMs])).toEqual([
      ['config 1', NOW + 9_000],
      ['config 2', NOW],
      ['config 1', NOW - 5_000],
    ]);
  });

  it('takes hostile text', async () => {
    const hostile = '\u001b[2J\u0000\\u0000\ud800"\\\'; DROP TABLE audit; --';
    await append(entry({ after: { reason: hostile } }));
    const [item] = (await db.store.audit.list(ALL, page)).items;
    const reason = hostile.replace('\u0000', '').replace('\ud800', '\ufffd');
    expect(item?.after).toEqual({ reason });
  });

  it('lists the newest first, by instant, actor and action, in pages', async () => {
    await append(
      entry({ object: 'a', atMs: NOW - 3_000 }),
      entry({ object: 'b', atMs: NOW - 1_000, name: 'ben' }),
      entry({ object: 'c', atMs: NOW - 2_000, action: 'concurrency.set.failed' }),
      entry({ object: 'd', action: 'concurrency' }),
      entry({ object: 'e', action: 'concurrency_of_others.set', atMs: NOW + 1 }),
    );
    expect(await objects({})).toEqual(['e', 'd', 'b', 'c', 'a']);
    expect(await objects({ sinceMs: NOW - 2_000 })).toEqual(['e', 'd', 'b', 'c']);
    expect(await objects({ untilMs: NOW - 1_000 })).toEqual(['c', 'a']);
    expect(await objects({ actor: 'ben' })).toEqual(['b']);
    expect(await objects({ action: 'concurrency' })).toEqual(['d', 'b', 'c', 'a']);
    expect(await objects({ action: 'concurrency.set', sinceMs: NOW - 2_000, actor: 'anna' })).toEqual(['c']);
    expect(await objects({ action: '%' })).toEqual([]);
    const { items, total } = await db.store.audit.list(ALL, { offset: 1, limit: 2 });
    expect([items.map(({ object }) => object), total]).toEqual([['d', 'b'], 5]);
    expect(await db.store.audit.list(ALL, { offset: 100, limit: 2 })).toEqual({ items: [], total: 5 });
  });

  it('lists by object, or by the first word of it', async () => {
    await append(entry({ object: 'card 8' }), entry({ object: 'card 80' }), entry({ object: 'cards' }));
    expect(await objects({ object: 'card 8' })).toEqual(['card 8']);
    expect(await objects({ object: 'card' })).toEqual(['card 80', 'card 8']);
  });

  it.each([
    ["UPDATE audit SET actor = 'nobody'"],
    ['DELETE FROM audit'],
    ["UPDATE audit_2026_11 SET actor = 'nobody'"],
    ['DELETE FROM audit_2026_11'],
    ['TRUNCATE audit'],
  ])('refuses %s', async (statement) => {
    await append(entry());
    await expect(db.sql(statement)).rejects.toThrow('append-only');
    expect(await objects({})).toHaveLength(1);
  });

  it('loses whole months to cleanup, and the preview says how many entries', async () => {
    await db.store.audit.append('2025-09', [entry({ object: 'old' }), entry({ object: 'old too' })]);
    await append(entry({ object: 'new' }));
    await db.sql("UPDATE cleanup_configs SET enabled = target = 'audit', retention_days = 400");
    await db.sql('DELETE FROM cleanup_runs');
    const plan = await db.store.cleanup.plan({ nowMs: NOW, calendar, changeMark: null });
    expect(plan.items.map(({ target, rows }) => [target, rows])).toEqual([['audit', 2]]);
    await db.store.cleanup.begin('audit-run', plan, null);
    let step = await db.store.cleanup.step();
    while (step.state === 'going') step = await db.store.cleanup.step();
    expect(step).toMatchObject({ state: 'finished', run: { status: 'completed', items: [{ deleted: 2 }] } });
    expect(await objects({})).toEqual(['new']);
  });

  describe('in turn with what it is about', () => {
    it('is kept, or undone', async () => {
      const later = new TypeError('later step failed');
      const change = (fail: boolean) =>
        db.store.inTurn(async ({ audit, configs }) => {
          await configs.setConcurrency('package', fail ? 7 : 8);
          await audit.append('2026-11', [entry()]);
          if (fail) throw later;
        });
      await change(false);
      await expect(change(true)).rejects.toBe(later);
      expect(await objects({})).toHaveLength(1);
      expect((await db.store.configs.recordedLimits()).package.maxConcurrency).toBe(8);
    });

    it('survives a statement that fails inside: an id that SQL has taken', async () => {
      const config = { name: 'turn', taskType: 'realname', cardCondition: 'any', carrierId: null } as const;
      const create = () =>
        db.store.inTurn(({ configs }) =>
          configs.create({ ...config, intervalSeconds: 60, priority: 0, status: 0 }),
        );
      const { id } = await create();
      await db.sql('UPDATE polling_configs SET id = id + 1 WHERE id = $1::integer', [id]);
      expect((await create()).id).toBe(id + 2);
    });

    it('is alone: what it read stays so', async () => {
      await db.store.configs.setConcurrency('package', 100);
      const stores = await Promise.all([db.another(), db.another(), db.another()]);
      const addOne = (store: typeof db.store) =>
        store.inTurn(async ({ configs }) =>
          configs.setConcurrency('package', (await configs.recordedLimits()).package.maxConcurrency + 1),
        );
      await Promise.all(stores.flatMap((store) => [addOne(store), addOne(store)]));
      expect((await db.store.configs.recordedLimits()).package.maxConcurrency).toBe(106);
    });
  });
});
