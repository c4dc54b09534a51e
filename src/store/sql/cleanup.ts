// Cleanup configs and runs: what stands in the records. What a step removes is cleanup-step.ts, what has expired
// cleanup-targets.ts.
import { CLEANUP_TARGETS, type CleanupConfig, type CleanupTarget } from '../../domain/cleanup.ts';
import type { MonthCalendar } from '../../domain/usage-month.ts';
import type { CleanupPlan, CleanupRecords, CleanupRun, CleanupStep } from '../ports/cleanup-records.ts';
import { planCleanup } from './cleanup-plan.ts';
import { cleanupStep, type RunItem } from './cleanup-step.ts';
import { monthStart } from './partitions.ts';
import type { SqlClient } from './sql-client.ts';

const CONFIG_COLUMNS = `id, target, retention_days, enabled,
  (extract(epoch FROM last_run_at) * 1000)::bigint AS last_run_at_ms`;

interface ConfigRow {
  readonly id: number;
  readonly target: CleanupTarget;
  readonly retention_days: number;
  readonly enabled: boolean;
  readonly last_run_at_ms: number | null;
}

/** A run with one of its targets; a run without any has one row without a target. */
interface RunRow {
  readonly run_id: string;
  readonly status: CleanupRun['status'];
  readonly batches: number;
  readonly started_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly target: CleanupTarget | null;
  readonly total: number;
  readonly deleted: number;
  readonly error: string | null;
}

/** A running run with the first target it is not through with; null: it is through with all. */
interface NextRow {
  readonly run_id: string;
  readonly position: number | null;
  readonly target: CleanupTarget;
  readonly cutoff_ms: number;
  readonly first_kept_month: string;
  readonly change_mark: string | null;
  readonly dropping: string | null;
  readonly walked_to: string;
}

export class SqlCleanup implements CleanupRecords {
  constructor(private readonly client: SqlClient) {}

  async configs(): Promise<CleanupConfig[]> {
    const rows = await this.client.query<ConfigRow>(
      `SELECT ${CONFIG_COLUMNS} FROM cleanup_configs WHERE target = ANY ($1::text[]) ORDER BY id`,
      [CLEANUP_TARGETS],
    );
    return rows.map(toConfig);
  }

  async updateConfig(
    id: number,
    patch: { retentionDays?: number; enabled?: boolean },
  ): Promise<CleanupConfig | null> {
    const [row] = await this.client.query<ConfigRow>(
      `UPDATE cleanup_configs
       SET retention_days = coalesce($2::integer, retention_days), enabled = coalesce($3::boolean, enabled)
       WHERE id = $1::integer AND target = ANY ($4::text[]) RETURNING ${CONFIG_COLUMNS}`,
      [id, patch.retentionDays ?? null, patch.enabled ?? null, CLEANUP_TARGETS],
    );
    return row === undefined ? null : toConfig(row);
  }

  async plan(at: {
    nowMs: number;
    calendar: MonthCalendar;
    changeMark: string | null;
  }): Promise<CleanupPlan> {
    return planCleanup(this.client, await this.configs(), at);
  }

  begin(runId: string, { items, changeMark }: CleanupPlan, scheduledForMs: number | null): Promise<boolean> {
    return this.client.transaction(async (tx) => {
      const begun = await tx.query(
        `INSERT INTO cleanup_runs (run_id, scheduled_for) VALUES ($1, to_timestamp($2::float8 / 1000))
         ON CONFLICT DO NOTHING RETURNING 1`,
        [runId, scheduledForMs],
      );
      if (begun.length === 0) return false;
      await tx.query(
        `INSERT INTO cleanup_run_items (run_id, position, target, cutoff, first_kept_month, change_mark, total)
         SELECT $1, position, target, to_timestamp(cutoff_ms / 1000.0), first_kept_month, $2, total
         FROM unnest($3::text[], $4::bigint[], $5::date[], $6::bigint[])
           WITH ORDINALITY AS i (target, cutoff_ms, first_kept_month, total, position)`,
        [
          runId,
          changeMark,
          items.map((item) => item.target),
          items.map((item) => item.cutoffMs),
          items.map((item) => monthStart(item.firstKeptMonth)),
          items.map((item) => item.rows),
        ],
      );
      return true;
    });
  }

  async step(): Promise<CleanupStep> {
    const [next] = await this.client.query<NextRow>(
      `SELECT r.run_id, i.position, i.target, (extract(epoch FROM i.cutoff) * 1000)::bigint AS cutoff_ms,
         to_char(i.first_kept_month, 'YYYY-MM') AS first_kept_month, i.change_mark, i.dropping,
         i.walked_to::text AS walked_to
       FROM cleanup_runs r LEFT JOIN LATERAL (
         SELECT * FROM cleanup_run_items WHERE run_id = r.run_id AND NOT finished ORDER BY position LIMIT 1
       ) i ON true
       WHERE r.status = 'running'`,
    );
    if (next === undefined) return { state: 'idle' };
    if (next.position === null) return this.#finish(next.run_id);
    return { state: 'going', deleted: await cleanupStep(this.client, toItem(next, next.position)) };
  }

  async skipTarget(error: string): Promise<void> {
    await this.client.query(
      `UPDATE cleanup_run_items SET finished = true, error = $1
       WHERE (run_id, position) = (
         SELECT i.run_id, i.position FROM cleanup_run_items i JOIN cleanup_runs r USING (run_id)
         WHERE r.status = 'running' AND NOT i.finished ORDER BY i.position LIMIT 1)`,
      [error],
    );
  }

  async cancel(reason: string): Promise<boolean> {
    // A step that is under way holds the lock of its target's row: what it removes is counted before the row is closed.
    const runs = await this.client.query(
      `WITH running AS (SELECT run_id FROM cleanup_runs WHERE status = 'running'), closed AS (
         UPDATE cleanup_run_items i SET finished = true, error = $1 FROM running r
         WHERE i.run_id = r.run_id AND NOT i.finished)
       SELECT 1 FROM running`,
      [reason],
    );
    return runs.length > 0;
  }

  latest(): Promise<CleanupRun | null> {
    return this.#run('ORDER BY started_at DESC LIMIT 1');
  }

  /** Another instance may have finished it: then there is nothing more to say. */
  async #finish(runId: string): Promise<CleanupStep> {
    const finished = await this.client.query(
      `UPDATE cleanup_runs SET finished_at = clock_timestamp(), status = CASE
         WHEN EXISTS (SELECT FROM cleanup_run_items WHERE run_id = $1 AND error IS NOT NULL) THEN 'failed'
         ELSE 'completed' END
       WHERE run_id = $1 AND status = 'running' RETURNING 1`,
      [runId],
    );
    const run = finished.length === 0 ? null : await this.#run('WHERE run_id = $1', [runId]);
    return run === null ? { state: 'idle' } : { state: 'finished', run };
  }

  /** In one statement: batches and rows of one moment. */
  async #run(which: string, params: readonly string[] = []): Promise<CleanupRun | null> {
    const rows = await this.client.query<RunRow>(
      `SELECT r.run_id, r.status, r.batches, (extract(epoch FROM r.started_at) * 1000)::bigint AS started_at_ms,
         (extract(epoch FROM r.finished_at) * 1000)::bigint AS finished_at_ms, i.target, i.total, i.deleted, i.error
       FROM (SELECT * FROM cleanup_runs ${which}) r LEFT JOIN cleanup_run_items i USING (run_id)
       ORDER BY i.position`,
      params,
    );
    const [run] = rows;
    if (run === undefined) return null;
    return {
      runId: run.run_id,
      status: run.status,
      items: rows.flatMap(({ target, total, deleted, error }) =>
        target === null ? [] : [{ target, total, deleted, error }],
      ),
      batches: run.batches,
      startedAtMs: run.started_at_ms,
      finishedAtMs: run.finished_at_ms,
    };
  }
}

function toConfig(row: ConfigRow): CleanupConfig {
  return {
    id: row.id,
    target: row.target,
    retentionDays: row.retention_days,
    enabled: row.enabled,
    lastRunAtMs: row.last_run_at_ms,
  };
}

function toItem(row: NextRow, position: number): RunItem {
  return {
    runId: row.run_id,
    position,
    target: row.target,
    cutoffMs: row.cutoff_ms,
    firstKeptMonth: row.first_kept_month,
    changeMark: row.change_mark,
    dropping: row.dropping,
    walkedTo: row.walked_to,
  };
}
