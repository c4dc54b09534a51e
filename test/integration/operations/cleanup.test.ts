// Cleaning at the operations: which data is kept how long, what a run would remove, and one run at a time.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Actor } from '../../../src/domain/audit.ts';
import { retentionVersion } from '../../../src/operations/cleanup.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { type OperatedStores, openOperatedStores } from '../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const NOT_FOUND = {
  kind: 'not_found',
  code: 'cleanup_config_not_found',
  message: 'there is no cleanup config 99',
  hint: '`cardpoll cleanup configs` shows the ids',
};

let stores: OperatedStores;
let cleanup: Operations['cleanup'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(() => {
  cleanup = stores.operations().cleanup;
});

async function runToTheEnd(): Promise<void> {
  while ((await stores.records.cleanup.step()).state !== 'idle');
}

it('a retention is found by its id', async () => {
  const all = await cleanup.configs();
  expect(all.length).toBeGreaterThan(1);
  for (const one of all) expect(await cleanup.config(one.id)).toEqual(one);
  await expect(cleanup.config(99)).rejects.toMatchObject(NOT_FOUND);
});

it('a retention is changed in the version that was seen, and the trail says what it was', async () => {
  const before = await cleanup.config(1);
  const seen = retentionVersion(before);
  const changed = await cleanup.update(ANNA, 1, { retentionDays: 91 }, [seen]);
  expect(changed).toEqual({ ...before, retentionDays: 91 });
  const { target, enabled } = before;
  expect(await stores.lastTrace()).toMatchObject({
    action: 'cleanup_config.update',
    object: 'cleanup_config 1',
    before: { target, retention_days: before.retentionDays, enabled },
    after: { target, retention_days: 91, enabled },
  });
  await expect(cleanup.update(ANNA, 1, { enabled: false }, [seen])).rejects.toMatchObject({
    kind: 'conflict',
  });
  const off = await cleanup.update(ANNA, 1, { enabled: false }, null);
  expect(off).toMatchObject({ retentionDays: 91, enabled: false });
  await expect(cleanup.update(ANNA, 1, {}, [retentionVersion(changed)])).rejects.toMatchObject({
    kind: 'conflict',
  });
  await cleanup.update(ANNA, 1, { enabled: true, retentionDays: before.retentionDays }, null);
});

it('a retention that is not there cannot be changed', async () => {
  await expect(cleanup.update(ANNA, 99, { enabled: false }, null)).rejects.toMatchObject(NOT_FOUND);
});

it('a preview counts what has expired, and removes nothing', async () => {
  await stores.sql(`INSERT INTO manual_triggers (trigger_id, kind, task_type, status, total, feeding, finished_at)
    SELECT 'old-' || n, 'batch', 'realname', 'completed', 0, false, clock_timestamp() - interval '10 years'
    FROM generate_series(1, 3) n`);
  const { items, totalRows } = await cleanup.preview();
  const [triggers] = items.filter(({ rows }) => rows > 0);
  expect([totalRows, triggers?.rows, triggers?.estimated]).toEqual([3, 3, false]);
  const daysAgo = (Date.now() - (triggers?.cutoff.getTime() ?? 0)) / 86_400_000;
  expect(Math.abs(daysAgo - (triggers?.retentionDays ?? 0))).toBeLessThan(2);
  expect((await cleanup.preview()).totalRows).toBe(3);
});

it('a preview takes nothing for expired where the clock of this machine is years ahead', async () => {
  const clock = { ...systemClock, now: () => Date.now() + 20 * 365 * 86_400_000 };
  const ahead = await openOperatedStores({ databaseOf: stores, clock });
  const cutoffs = (await ahead.operations().cleanup.preview()).items.map(({ cutoff }) => cutoff.getTime());
  expect(Math.max(...cutoffs)).toBeLessThan(Date.now());
  await ahead.close();
});

it('runs one at a time, is told as it goes, and is cancelled once', async () => {
  const { runId } = await cleanup.trigger(ANNA);
  expect(await stores.lastTrace()).toMatchObject({ action: 'cleanup.begin', object: `cleanup ${runId}` });
  await expect(cleanup.trigger(ANNA)).rejects.toMatchObject({
    kind: 'conflict',
    code: 'cleanup_running',
    message: 'a cleanup is already running',
    hint: 'follow it with `cardpoll cleanup progress`',
  });
  expect(await cleanup.progress()).toMatchObject({ runId, status: 'running', finishedAt: null });
  expect(await cleanup.cancel(ANNA), 'until its step is over').toMatchObject({ runId, status: 'running' });
  expect(await stores.lastTrace()).toMatchObject({
    action: 'cleanup.cancel',
    object: `cleanup ${runId}`,
    before: { status: 'running' },
    after: { status: 'cancelled' },
  });
  await runToTheEnd();
  expect(await cleanup.progress()).toMatchObject({ runId, status: 'failed' });
  await expect(cleanup.cancel(ANNA)).rejects.toMatchObject({
    kind: 'conflict',
    code: 'cleanup_not_running',
    message: 'no cleanup is running',
  });
});

it('says how much the last run removed', async () => {
  const { runId } = await cleanup.trigger(ANNA);
  await runToTheEnd();
  expect(await cleanup.progress()).toMatchObject({
    runId,
    status: 'completed',
    deleted: 3,
    finishedAt: expect.any(Date),
  });
  expect((await cleanup.preview()).totalRows).toBe(0);
});

it('says that none has run yet', async () => {
  const fresh = await openOperatedStores();
  expect(await fresh.operations().cleanup.progress()).toEqual({
    runId: null,
    status: 'idle',
    items: [],
    deleted: 0,
    batches: 0,
    startedAt: null,
    finishedAt: null,
  });
  await fresh.close();
});
