// Cleanup: change retention, preview, begin and cancel a run, show its progress. Used by the admin API. The leader
// carries out a run; nothing here removes a row.
import { randomUUID } from 'node:crypto';
import type { Actor } from '../domain/audit.ts';
import { type CleanupConfig, cleanupBegun } from '../domain/cleanup.ts';
import { dated } from '../domain/date-of.ts';
import { CardpollError } from '../platform/errors.ts';
import type { CleanupPreview, CleanupProgress, Retention } from '../resources/cleanup.ts';
import type { CleanupPlan, CleanupRun } from '../store/ports/records/cleanup-records.ts';
import { earlierTime } from '../store/ports/records/record-store.ts';
import type { OperationDeps } from './deps.ts';
import { type ExpectedVersion, requireVersion, versionOf } from './requirements.ts';

/** The error of the targets that a cancelled run has not cleaned. */
const CANCELLED = 'cancelled';

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
    private readonly deps: Pick<OperationDeps, 'audit' | 'live' | 'records' | 'clock' | 'calendar'>,
  ) {}

  /** @returns the configs in order of id. */
  async configs(): Promise<Retention[]> {
    return (await this.deps.records.cleanup.configs()).map(dated);
  }

  /** @throws CardpollError `not_found` for an unknown id. */
  async config(id: number): Promise<Retention> {
    const found = (await this.configs()).find((config) => config.id === id);
    if (found === undefined) throw unknown(id);
    return found;
  }

  /**
   * The next run uses the new values. @throws CardpollError `not_found`; `conflict` when the config does not have the
   * expected version.
   */
  async update(
    actor: Actor,
    id: number,
    patch: Partial<Pick<Retention, 'retentionDays' | 'enabled'>>,
    expected: ExpectedVersion,
  ): Promise<Retention> {
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
    return dated(updated);
  }

  /** @returns the rows that a run would remove now, for the enabled configs. */
  async preview(): Promise<CleanupPreview> {
    const { items } = await this.#plan();
    return {
      items: items.map(dated),
      totalRows: items.reduce((sum, item) => sum + item.rows, 0),
    };
  }

  /** Begins a run. @throws CardpollError `conflict` while one is running. */
  async trigger(actor: Actor): Promise<{ runId: string }> {
    const plan = () => this.#plan();
    return this.deps.audit.prepared(actor, plan, async (planned, { cleanup }, note) => {
      const runId = randomUUID();
      if (!(await cleanup.begin(runId, planned, null))) {
        throw new CardpollError('conflict', 'cleanup_running', 'a cleanup is already running', {
          hint: 'follow it with `cardpoll cleanup progress`',
        });
      }
      note(cleanupBegun(runId, planned));
      return { runId };
    });
  }

  /** Ends the running run; removed rows stay removed. @throws CardpollError `conflict` when none is running. */
  async cancel(actor: Actor): Promise<CleanupProgress> {
    return this.deps.audit.change(actor, async ({ cleanup }, note) => {
      const run = await cleanup.latest();
      if (!(await cleanup.cancel(CANCELLED))) {
        throw new CardpollError('conflict', 'cleanup_not_running', 'no cleanup is running');
      }
      const status = { before: { status: 'running' }, after: { status: CANCELLED } };
      note({ action: 'cleanup.cancel', object: `cleanup ${run?.runId}`, ...status });
      return progressOf(await cleanup.latest());
    });
  }

  /** @returns the progress of the running run, otherwise of the last one. */
  async progress(): Promise<CleanupProgress> {
    return progressOf(await this.deps.records.cleanup.latest());
  }

  async #plan(): Promise<CleanupPlan> {
    const { live, records, clock, calendar } = this.deps;
    const { changeMark } = await live.coordination.initProgress();
    const nowMs = await earlierTime(clock, records);
    return records.cleanup.plan({ nowMs, calendar, changeMark: changeMark || null });
  }
}

function progressOf(run: CleanupRun | null): CleanupProgress {
  if (run === null) return IDLE;
  return { ...dated(run), deleted: run.items.reduce((sum, item) => sum + item.deleted, 0) };
}

/** The fields of a retention for the audit trail. */
function traceOf({ target, retentionDays, enabled }: CleanupConfig) {
  return { target, retentionDays, enabled };
}

/** The version covers the changeable fields, not the time of the last run. */
export function retentionVersion({
  id,
  retentionDays,
  enabled,
}: Pick<CleanupConfig, 'id' | 'retentionDays' | 'enabled'>): string {
  return versionOf([id, retentionDays, enabled]);
}

function unknown(id: number): CardpollError {
  return new CardpollError('not_found', 'cleanup_config_not_found', `there is no cleanup config ${id}`, {
    hint: '`cardpoll cleanup configs` shows the ids',
  });
}
