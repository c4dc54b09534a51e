// Cleanup: retention, what a run would remove, begin one, follow it. Used by the admin API. A run that was begun is
// carried out by whichever instance leads; nothing here removes a row.

import { randomUUID } from 'node:crypto';
import type { Actor } from '../domain/audit.ts';
import type { MonthCalendar } from '../domain/cards/usage-month.ts';
import { type CleanupConfig, cleanupBegun, RETENTION_DAYS_BOUNDS } from '../domain/cleanup.ts';
import type { Clock } from '../platform/clock.ts';
import { CardpollError } from '../platform/errors.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { CleanupPlan } from '../store/ports/records/cleanup-records.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import type { Audit } from './audit.ts';
import { requireWithin } from './bounds.ts';
import type { CleanupPreview, CleanupProgress, Retention } from './cleanup-report.ts';
import { dateOf } from './date-of.ts';
import { type ExpectedVersion, requireVersion, versionOf } from './version.ts';

/** Stands as the error of the targets that were still to be cleaned. */
const CANCELLED = 'cancelled';

interface RetentionPatch {
  readonly retentionDays?: number;
  readonly enabled?: boolean;
}

const IDLE: CleanupProgress = {
  runId: null,
  status: 'idle',
  items: [],
  deleted: 0,
  batches: 0,
  startedAt: null,
  finishedAt: null,
};

export class CleanupOperations {
  constructor(
    private readonly deps: {
      readonly audit: Audit;
      readonly live: Pick<LiveStore, 'coordination'>;
      readonly records: Pick<RecordStore, 'cleanup'>;
      readonly clock: Clock;
      readonly calendar: MonthCalendar;
    },
  ) {}

  /** By id. */
  async configs(): Promise<Retention[]> {
    return (await this.deps.records.cleanup.configs()).map(toRetention);
  }

  /** Throws `not_found`. */
  async config(id: number): Promise<Retention> {
    const found = (await this.configs()).find((config) => config.id === id);
    if (found === undefined) throw unknown(id);
    return found;
  }

  /**
   * In force from the next run on. Throws `not_found`, `invalid` for days out of bounds, `conflict` when it is not in the
   * version expected.
   */
  async update(
    actor: Actor,
    id: number,
    patch: RetentionPatch,
    expected: ExpectedVersion,
  ): Promise<Retention> {
    const { retentionDays } = patch;
    if (retentionDays !== undefined) requireWithin(RETENTION_DAYS_BOUNDS, { retentionDays });
    const updated = await this.deps.audit.change(actor, async ({ cleanup }, note) => {
      const before = (await cleanup.configs()).find((config) => config.id === id);
      if (before === undefined) throw unknown(id);
      requireVersion(retentionVersion(before), expected);
      const after = await cleanup.updateConfig(id, patch);
      if (after === null) throw unknown(id);
      const object = `cleanup_config ${id}`;
      note({ action: 'cleanup_config.update', object, before: traceOf(before), after: traceOf(after) });
      return after;
    });
    return toRetention(updated);
  }

  /** What a run would remove now, of the enabled configs. */
  async preview(): Promise<CleanupPreview> {
    const { items } = await this.#plan();
    return {
      items: items.map(({ id, target, retentionDays, cutoffMs, rows, estimated }) => ({
        id,
        target,
        retentionDays,
        cutoff: new Date(cutoffMs),
        rows,
        estimated,
      })),
      totalRows: items.reduce((sum, item) => sum + item.rows, 0),
    };
  }

  /** Begins a run. Throws `conflict` while one runs. */
  async trigger(actor: Actor): Promise<{ runId: string }> {
    const runId = randomUUID();
    const plan = await this.#plan();
    await this.deps.audit.change(actor, async ({ cleanup }, note) => {
      if (!(await cleanup.begin(runId, plan, null))) {
        throw new CardpollError('conflict', 'cleanup_running', 'a cleanup is running already', {
          hint: 'follow it with `cardpoll cleanup progress`',
        });
      }
      note(cleanupBegun(runId, plan));
    });
    return { runId };
  }

  /** Ends the running run; what it has removed stays removed. Throws `conflict` when none runs. */
  async cancel(actor: Actor): Promise<CleanupProgress> {
    await this.deps.audit.change(actor, async ({ cleanup }, note) => {
      const run = await cleanup.latest();
      if (!(await cleanup.cancel(CANCELLED))) {
        throw new CardpollError('conflict', 'cleanup_not_running', 'no cleanup is running');
      }
      const status = { before: { status: 'running' }, after: { status: CANCELLED } };
      note({ action: 'cleanup.cancel', object: `cleanup ${run?.runId}`, ...status });
    });
    return this.progress();
  }

  /** Of the running run, else of the last one. */
  async progress(): Promise<CleanupProgress> {
    const run = await this.deps.records.cleanup.latest();
    if (run === null) return IDLE;
    const { runId, status, items, batches, startedAtMs, finishedAtMs } = run;
    return {
      runId,
      status,
      items,
      deleted: items.reduce((sum, item) => sum + item.deleted, 0),
      batches,
      startedAt: new Date(startedAtMs),
      finishedAt: dateOf(finishedAtMs),
    };
  }

  async #plan(): Promise<CleanupPlan> {
    const { live, records, clock, calendar } = this.deps;
    const { changeMark } = await live.coordination.initProgress();
    return records.cleanup.plan({ nowMs: clock.now(), calendar, changeMark: changeMark || null });
  }
}

/** What the audit trail says of a retention. */
function traceOf({ target, retentionDays, enabled }: CleanupConfig) {
  return { target, retentionDays, enabled };
}

/** Of what a change can change, not of when it ran last. */
export function retentionVersion({ id, retentionDays, enabled }: CleanupConfig | Retention): string {
  return versionOf([id, retentionDays, enabled]);
}

function unknown(id: number): CardpollError {
  return new CardpollError('not_found', 'cleanup_config_not_found', `there is no cleanup config ${id}`, {
    hint: '`cardpoll cleanup configs` shows the ids',
  });
}

function toRetention({ lastRunAtMs, ...config }: CleanupConfig): Retention {
  return { ...config, lastRunAt: dateOf(lastRunAtMs) };
}
