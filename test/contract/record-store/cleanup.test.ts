// Cleanup: what expires, in which steps it goes, and that a run goes on where it was left.
import { beforeEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { CLEANUP_BATCH_ROWS, type CleanupTarget } from '../../../src/domain/cleanup.ts';
import type { CleanupRun } from '../../../src/store/ports/records/cleanup-records.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { addCards, describeRecordStore } from './stores.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const DAY_MS = 86_400_000;
const calendar = new MonthCalendar('Asia/Shanghai');
const daysAgo = (days: number) => new Date(NOW - days * DAY_MS).toISOString();

describeRecordStore('cleanup', (db) => {
  beforeEach(async () => {
    await db.sql('DELETE FROM cleanup_runs');
    await db.sql(
      'UPDATE cleanup_configs SET enabled = true, last_run_at = NULL, retention_days = CASE target ' +
        "WHEN 'usage_records' THEN 180 WHEN 'card_usage' THEN 730 WHEN 'card_stops' THEN 365 WHEN 'audit' THEN 400 ELSE 30 END",
    );
    await db.sql('DELETE FROM alert_history');
    await db.sql('DELETE FROM manual_triggers');
  });

  const plan = async (nowMs = NOW, store = db.store) =>
    store.cleanup.plan({ nowMs, calendar, changeMark: await store.cards.changeMark() });
  const begin = async (runId = 'r1') => db.store.cleanup.begin(runId, await plan(), null);
  const rowsOf = async (target: CleanupTarget) =>
    (await plan()).items.find((item) => item.target === target)?.rows;

  /** Takes steps to the end. @returns the run and how many rows each step removed. */
  async function finish(store: RecordStore = db.store): Promise<{ run: CleanupRun; steps: number[] }> {
    const steps: number[] = [];
    for (;;) {
      const step = await store.cleanup.step();
      if (step.state === 'idle') throw new Error('no run');
      if (step.state === 'finished') return { run: step.run, steps };
      if (step.deleted > 0) steps.push(step.deleted);
    }
  }

  const deletedOf = (run: CleanupRun, target: CleanupTarget) =>
    run.items.find((item) => item.target === target)?.deleted;

  describe('configs', () => {
    it('start with one for everything that grows', async () => {
      const configs = await db.store.cleanup.configs();
      expect(configs.map((config) => [config.id, config.target])).toEqual([
        [1, 'usage_records'],
        [2, 'card_usage'],
        [3, 'alert_history'],
        [4, 'webhook_outbox'],
        [5, 'manual_triggers'],
        [6, 'card_stops'],
        [7, 'card_removals'],
        [8, 'cleanup_runs'],
        [9, 'audit'],
        [10, 'card_resumes'],
      ]);
      expect(configs[0]).toEqual({
        id: 1,
        target: 'usage_records',
        retentionDays: 180,
        enabled: true,
        lastRunAtMs: null,
      });
    });

    it('leave out only tables that do not grow', async () => {
      const bounded = [
        'alert_rules',
        'alert_silences', // those that are over go with the next one
        'card_polls', // one row a card
        'cardpoll_migrations',
        'cards',
        'cards_over_running', // one row a card at most; the next walk removes what is over
        'cards_stopped_within', // likewise
        'cleanup_configs',
        'cleanup_run_items', // go with their run
        'concurrency_configs',
        'fleet',
        'maintenance_windows', // those that have been over for a week go with the next look
        'made_changes', // for a day: the oldest go with the next one
        'manual_trigger_cards', // go with the results
        'pauses', // one row of each task type
        'polling_configs',
        'ring_marks', // one row of each config
        'resume_runs', // those without cards go with the next one
        'rule_types',
        'stop_control',
        'task_types',
      ];
      const targets: string[] = (await db.store.cleanup.configs()).map((config) => config.target);
      const tables = await db.sql(
        `SELECT relname::text AS name FROM pg_class
         WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`,
      );
      expect(tables.map((table) => table.name).sort()).toEqual([...bounded, ...targets].sort());
    });

    it('change in what is given, within bounds', async () => {
      const { cleanup } = db.store;
      expect(await cleanup.updateConfig(1, { retentionDays: 90 })).toMatchObject({
        retentionDays: 90,
        enabled: true,
      });
      expect(await cleanup.updateConfig(1, { enabled: false })).toMatchObject({
        retentionDays: 90,
        enabled: false,
      });
      expect(await cleanup.updateConfig(99, { enabled: false })).toBeNull();
      for (const retentionDays of [0, 3_651]) {
        await expect(cleanup.updateConfig(1, { retentionDays })).rejects.toMatchObject({ kind: 'invalid' });
      }
    });
  });

  describe('runs', () => {
    it('are one at a time, and there is none before the first', async () => {
      expect(await db.store.cleanup.latest()).toBeNull();
      expect(await db.store.cleanup.step()).toEqual({ state: 'idle' });
      const begun = await Promise.all(
        ['a', 'b', 'c'].map(async (id) => (await db.another()).cleanup.begin(id, await plan(), null)),
      );
      expect(begun.filter(Boolean)).toHaveLength(1);
      expect(await db.store.cleanup.latest()).toMatchObject({
        status: 'running',
        batches: 0,
        finishedAtMs: null,
      });
      expect((await finish()).run).toMatchObject({ status: 'completed', finishedAtMs: expect.any(Number) });
      expect(await begin('later')).toBe(true);
    });

    it('are begun once for each scheduled instant', async () => {
      expect(await db.store.cleanup.begin('a', await plan(), NOW)).toBe(true);
      await finish();
      expect(await db.store.cleanup.begin('b', await plan(), NOW)).toBe(false);
      expect(await db.store.cleanup.begin('c', await plan(), NOW + DAY_MS)).toBe(true);
    });

    it('leave out what is disabled, and note when a target was done', async () => {
      for (const id of [1, 2, 3, 4, 5, 6, 8, 9, 10])
        await db.store.cleanup.updateConfig(id, { enabled: false });
      await begin();
      expect((await finish()).run.items.map((item) => item.target)).toEqual(['card_removals']);
      const configs = await db.store.cleanup.configs();
      expect(configs.filter((config) => config.lastRunAtMs !== null).map((config) => config.id)).toEqual([7]);
    });

    it('go on with the other targets when one is given up, and fail', async () => {
      await stops(3);
      await begin();
      await db.store.cleanup.skipTarget('the table is on fire');
      const { run } = await finish();
      expect(run).toMatchObject({
        status: 'failed',
        items: { 0: { error: 'the table is on fire', deleted: 0 } },
      });
      expect(deletedOf(run, 'card_stops')).toBe(3);
    });
  });

  describe('a cancelled run', () => {
    it('removes no further row, keeps what it counted, and ends as failed', async () => {
      await stops(CLEANUP_BATCH_ROWS + 7);
      await begin();
      while ((await db.store.cleanup.latest())?.batches === 0) await db.store.cleanup.step();
      expect(await db.store.cleanup.cancel('cancelled')).toBe(true);
      expect(await db.store.cleanup.step()).toMatchObject({
        state: 'finished',
        run: { status: 'failed', batches: 1 },
      });
      const run = await db.store.cleanup.latest();
      expect(run?.items.find(({ target }) => target === 'card_stops')).toEqual({
        target: 'card_stops',
        deleted: CLEANUP_BATCH_ROWS,
        total: CLEANUP_BATCH_ROWS + 7,
        error: 'cancelled',
      });
      expect(run?.items.find(({ target }) => target === 'usage_records')?.error).toBeNull();
      expect(await rowsOf('card_stops')).toBe(7);
    });

    it('leaves room for the next one, and nothing is cancelled where none runs', async () => {
      expect(await db.store.cleanup.cancel('cancelled')).toBe(false);
      await begin('one');
      expect(await db.store.cleanup.cancel('cancelled')).toBe(true);
      await db.store.cleanup.step();
      await begin('two');
      expect((await finish()).run.status).toBe('completed');
    });
  });

  /** Stops of `count` cards in a month, requested at an instant. */
  const stops = (count: number, month = '2025-06-01', requestedAt = daysAgo(400)) =>
    db.sql(
      `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, requested_at)
       SELECT i, $1::date, 'x', 2, 1, 'done', $2::timestamptz FROM generate_series(1, ${count}) i`,
      [month, requestedAt],
    );
  const counted = async (table: string) => Number((await db.sql(`SELECT count(*) AS n FROM ${table}`))[0]?.n);

  describe('batches', () => {
    it('never exceed 10,000 rows, and note their progress with the removal', async () => {
      const expired = 2 * CLEANUP_BATCH_ROWS + 5_000;
      await stops(expired);
      await stops(10, '2025-12-01', daysAgo(364));
      expect(await rowsOf('card_stops')).toBe(expired);
      await begin();
      expect(await db.store.cleanup.latest()).toMatchObject({
        items: { 5: { target: 'card_stops', total: expired } },
      });
      const { run, steps } = await finish();
      expect(steps).toEqual([CLEANUP_BATCH_ROWS, CLEANUP_BATCH_ROWS, 5_000]);
      expect(run.batches).toBe(3);
      expect(deletedOf(run, 'card_stops')).toBe(expired);
      expect(await counted('card_stops')).toBe(10);
    });

    it('find expired rows among many that stay', async () => {
      await stops(30_000, '2025-12-01', daysAgo(10));
      await db.sql(`UPDATE card_stops SET requested_at = $1::timestamptz WHERE card_id % 100 = 0`, [
        daysAgo(366),
      ]);
      await begin();
      expect(deletedOf((await finish()).run, 'card_stops')).toBe(300);
      expect(await counted('card_stops')).toBe(29_700);
    });

    it('are resumed by the next instance, also by two at once', async () => {
      const expired = 3 * CLEANUP_BATCH_ROWS;
      await stops(expired);
      await begin();
      // The first targets are empty; step until the first batch is gone, then leave the run to two others.
      let step = await db.store.cleanup.step();
      while (step.state === 'going' && step.deleted === 0) step = await db.store.cleanup.step();
      expect(step).toEqual({ state: 'going', deleted: CLEANUP_BATCH_ROWS });
      const [one, two] = await Promise.all([db.another(), db.another()]);
      const both = await Promise.all([one.cleanup.step(), two.cleanup.step()]);
      expect(both.map((each) => each.state === 'going' && each.deleted)).toEqual([
        CLEANUP_BATCH_ROWS,
        CLEANUP_BATCH_ROWS,
      ]);
      const { run } = await finish(two);
      expect(run.items.find((item) => item.target === 'card_stops')).toMatchObject({
        deleted: expired,
        total: expired,
      });
      expect(await counted('card_stops')).toBe(0);
    });
  });

  describe('boundaries', () => {
    it('a row that is exactly as old as the retention stays', async () => {
      await stops(1, '2025-06-01', daysAgo(365));
      await stops(1, '2025-07-01', new Date(NOW - 365 * DAY_MS - 1).toISOString());
      await begin();
      await finish();
      expect(await db.sql('SELECT month::text AS month FROM card_stops')).toEqual([{ month: '2025-06-01' }]);
    });

    it('stops of the current month stay whatever the retention', async () => {
      await db.store.cleanup.updateConfig(6, { retentionDays: 1 });
      await stops(2, '2026-11-01', daysAgo(15));
      await stops(2, '2026-10-01', daysAgo(30));
      await begin();
      expect(deletedOf((await finish()).run, 'card_stops')).toBe(2);
      expect(await db.sql('SELECT DISTINCT month::text AS month FROM card_stops')).toEqual([
        { month: '2026-11-01' },
      ]);
    });

    it('cards of a run of resumes go together, when none of them waits', async () => {
      await db.sql(
        'INSERT INTO resume_runs (reason, created_by, created_role, created_at) SELECT i::text, $1, $1, $2::timestamptz FROM generate_series(1, 3) i',
        ['x', daysAgo(31)],
      );
      await db.sql("UPDATE resume_runs SET created_at = $1::timestamptz WHERE reason = '3'", [daysAgo(29)]);
      await db.sql(
        `INSERT INTO card_resumes (run_id, card_id, state, ended_at)
         SELECT id, i * 10 + reason::integer, 'resumed', $1::timestamptz
         FROM resume_runs, generate_series(1, 5) i`,
        [daysAgo(1)],
      );
      await db.sql("UPDATE card_resumes SET state = 'waiting', ended_at = NULL WHERE card_id = 12");
      expect(await rowsOf('card_resumes')).toBe(5);
      await begin();
      expect(deletedOf((await finish()).run, 'card_resumes')).toBe(5);
      expect(await db.sql('SELECT DISTINCT card_id % 10 AS run FROM card_resumes ORDER BY run')).toEqual([
        { run: expect.toSatisfy((run) => Number(run) === 2) },
        { run: expect.toSatisfy((run) => Number(run) === 3) },
      ]);
    });

    it('removed cards are kept until the change feed is past them', async () => {
      await addCards(db.store, 1, 2, 3);
      await db.sql('DELETE FROM cards WHERE card_id = 1');
      const changeMark = await db.store.cards.changeMark();
      await db.sql('DELETE FROM cards WHERE card_id = 2');
      await db.sql('UPDATE card_removals SET removed_at = $1::timestamptz', [daysAgo(31)]);
      await db.sql('DELETE FROM cards WHERE card_id = 3');
      const unknown = await db.store.cleanup.plan({ nowMs: NOW, calendar, changeMark: null });
      expect(unknown.items.find((item) => item.target === 'card_removals')?.rows).toBe(0);
      await db.store.cleanup.begin(
        'r1',
        await db.store.cleanup.plan({ nowMs: NOW, calendar, changeMark }),
        null,
      );
      await finish();
      expect(await db.sql('SELECT card_id FROM card_removals ORDER BY card_id')).toEqual(
        [2, 3].map((card_id) =>
          expect.objectContaining({ card_id: expect.toSatisfy((id) => Number(id) === card_id) }),
        ),
      );
    });

    it('open alerts, pending notifications and unfinished triggers stay', async () => {
      await db.sql(
        `INSERT INTO alert_history (id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, resolved_at)
         SELECT i, 1, 'n', 'queue_backlog', 'realname', '>', 1, 2, $1::timestamptz, CASE WHEN i > 1 THEN now() END
         FROM generate_series(1, 3) i`,
        [daysAgo(31)],
      );
      await db.sql(
        `INSERT INTO alert_history (id, rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, resolved_at)
         VALUES (4, 1, 'n', 'queue_backlog', 'realname', '>', 1, 2, $1::timestamptz, now())`,
        [daysAgo(29)],
      );
      await db.sql(
        `INSERT INTO webhook_outbox (alert_id, event, url, status, settled_at) VALUES
         (4, 'alert.fired', 'u', 'delivered', $1::timestamptz), (4, 'alert.fired', 'u', 'failed', $2::timestamptz),
         (4, 'alert.resolved', 'u', 'pending', NULL)`,
        [daysAgo(31), daysAgo(29)],
      );
      await db.sql(
        `INSERT INTO manual_triggers (trigger_id, kind, task_type, status, total, feeding, finished_at) VALUES
         ('old', 'single', 'realname', 'completed', 1, false, $1::timestamptz),
         ('taken-back', 'single', 'realname', 'cancelled', 1, true, $1::timestamptz),
         ('new', 'single', 'realname', 'completed', 1, false, $2::timestamptz),
         ('open', 'single', 'realname', 'running', 1, false, NULL)`,
        [daysAgo(31), daysAgo(29)],
      );
      await begin();
      await finish();
      const ids = async (table: string, id: string) =>
        (await db.sql(`SELECT ${id}::text AS id FROM ${table} ORDER BY 1`)).map((found) => found.id);
      expect(await ids('alert_history', 'id')).toEqual(['1', '4']);
      expect(await ids('webhook_outbox', 'status')).toEqual(['failed', 'pending']);
      expect(await ids('manual_triggers', 'trigger_id')).toEqual(['new', 'open', 'taken-back']);
    });

    it('forgets old runs, never the one that runs', async () => {
      await begin('old');
      await finish();
      await db.sql(`UPDATE cleanup_runs SET started_at = $1::timestamptz, finished_at = $1::timestamptz`, [
        daysAgo(31),
      ]);
      await begin('now');
      expect(deletedOf((await finish()).run, 'cleanup_runs')).toBe(1);
      expect(await db.sql('SELECT run_id FROM cleanup_runs')).toEqual([{ run_id: 'now' }]);
    });
  });

  describe('months', () => {
    /** Readings of `count` cards, with the partition they need. */
    async function records(month: string, count: number, recordedAt: string): Promise<void> {
      await db.store.results.ensurePartitions(month);
      await db.sql(
        `INSERT INTO usage_records SELECT i, $1::date, $2::timestamptz, 1, 1 FROM generate_series(1, ${count}) i`,
        [`${month}-01`, recordedAt],
      );
    }
    const partitions = async (table: string) =>
      (
        await db.sql(
          `SELECT child.relname::text AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
           WHERE inhparent = $1::regclass ORDER BY 1`,
          [table],
        )
      ).map((found) => found.name as string);
    const tables = async (like: string) =>
      (await db.sql(`SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE $1`, [like])).length;

    it('months that have expired are dropped as a whole; of the month the retention ends in, rows', async () => {
      // 180 days before NOW is May 25th.
      await records('2026-04', 12_000, '2026-04-30T12:00:00+08:00');
      await records('2026-05', 100, '2026-05-25T17:59:59+08:00');
      await records('2026-05', 50, '2026-05-25T18:00:00+08:00');
      await records('2026-11', 10, '2026-11-21T10:00:00+08:00');
      expect(await rowsOf('usage_records')).toBe(12_100);
      const before = await partitions('usage_records');
      await begin();
      const { run, steps } = await finish();
      expect(steps).toEqual([12_000, 100]);
      expect(run).toMatchObject({
        batches: 2,
        items: { 0: { target: 'usage_records', deleted: 12_100, total: 12_100 } },
      });
      expect(await counted('usage_records')).toBe(60);
      expect(await partitions('usage_records')).toEqual(
        before.filter((name) => name > 'usage_records_2026_04'),
      );
      expect(await tables('usage_records_2026_04')).toBe(0);
    });

    it('months of usage stay while they are the current one or the one before', async () => {
      for (const month of ['2026-09', '2026-10', '2026-11', '2026-12']) {
        await db.store.results.ensurePartitions(month);
        await db.sql(
          `INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at) VALUES (1, $1::date, 1, 1, now())`,
          [`${month}-01`],
        );
      }
      await db.store.cleanup.updateConfig(2, { retentionDays: 1 });
      expect(await rowsOf('card_usage')).toBe(1);
      await begin();
      await finish();
      expect(
        (await db.sql('SELECT month::text AS month FROM card_usage ORDER BY month')).map(
          (found) => found.month,
        ),
      ).toEqual(['2026-10-01', '2026-11-01', '2026-12-01']);
      expect((await partitions('card_usage'))[0]).toBe('card_usage_2026_10');
    });

    it('half removed by an instance that died are removed by the next one', async () => {
      await records('2025-01', 5, '2025-01-15T00:00:00Z');
      await records('2025-02', 7, '2025-02-15T00:00:00Z');
      await begin();
      // Written down, then killed before it was detached; or detached and not yet dropped.
      const dropping = async () =>
        (await db.sql(`SELECT dropping FROM cleanup_run_items WHERE position = 1`))[0]?.dropping;
      while ((await dropping()) !== 'usage_records_2025_01') await db.store.cleanup.step();
      await db.sql('ALTER TABLE usage_records DETACH PARTITION usage_records_2025_01');
      const { run } = await finish(await db.another());
      expect(deletedOf(run, 'usage_records')).toBe(12);
      expect(await tables('usage_records_2025%')).toBe(0);
    });

    it('left detached by a run that failed are dropped by the next run', async () => {
      await records('2025-01', 5, '2025-01-15T00:00:00Z');
      await begin('failing');
      while ((await db.sql('SELECT 1 FROM cleanup_run_items WHERE dropping IS NOT NULL')).length === 0)
        await db.store.cleanup.step();
      await db.sql('ALTER TABLE usage_records DETACH PARTITION usage_records_2025_01');
      await db.store.cleanup.skipTarget('in the way');
      expect((await finish()).run.status).toBe('failed');
      await begin('next');
      expect((await finish()).run.status).toBe('completed');
      expect(await tables('usage_records_2025%')).toBe(0);
    });

    it('months that a run was about to drop when it was cancelled stay if they are to be kept now', async () => {
      await records('2025-01', 5, '2025-01-15T00:00:00Z');
      await begin('cancelled');
      while ((await db.sql('SELECT 1 FROM cleanup_run_items WHERE dropping IS NOT NULL')).length === 0)
        await db.store.cleanup.step();
      await db.store.cleanup.cancel('kept too short');
      expect((await finish()).run.status).toBe('failed');
      await db.store.cleanup.updateConfig(1, { retentionDays: 3_650 });
      await begin('next');
      expect((await finish()).run.status).toBe('completed');
      expect(await tables('usage_records_2025_01')).toBe(1);
      expect(await counted('usage_records')).toBe(5);
    });
  });
});
