// Cleanup configs and the recorded runs. cleanup-step.ts removes rows, cleanup-targets.ts defines which have expired.
import { CLEANUP_TARGETS, type CleanupConfig, cleanupBounds } from '../../../domain/cleanup.ts';
import type {
  CleanupPlan,
  CleanupPlanItem,
  CleanupRecords,
  CleanupRun,
  CleanupStep,
} from '../../ports/records/cleanup-records.ts';
import { COUNT_WITHIN_MS, countWithin } from '../client/bounded-count.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './cleanup.sql';
import { cleanupStep, type RunItem } from './cleanup-step.ts';
import { expiredRows } from './cleanup-targets.ts';

const sql = statements(file);

/** A running run with its first unfinished target; null: all are finished. */
type NextRow = Omit<RunItem, 'position'> & { readonly position: number | null };

export function sqlCleanup(client: SqlClient): CleanupRecords {
  const db = sql.on(client);
  const configs = () => db.rows<CleanupConfig>('configs', CLEANUP_TARGETS);

  /** Another instance may have finished it; then there is nothing to report. */
  async function finish(runId: string): Promise<CleanupStep> {
    const run = (await db.hasRow('finish', runId)) ? await runOf(runId) : null;
    return run === null ? { state: 'idle' } : { state: 'finished', run };
  }

  /** @param id null: the run begun last. */
  const runOf = (id: string | null) => db.first<CleanupRun>('run', id);

  return {
    configs,

    updateConfig: (id, { retentionDays = null, enabled = null }) =>
      db.first('updateConfig', id, retentionDays, enabled, CLEANUP_TARGETS),

    plan: async (at) => planCleanup(client, await configs(), at),

    begin: (runId, { items, changeMark }, scheduledForMs) =>
      db.hasRow('begin', runId, scheduledForMs, changeMark, jsonOf(items)),

    async step() {
      const next = await db.first<NextRow>('next');
      if (next === null) return { state: 'idle' };
      const { position, ...item } = next;
      if (position === null) return finish(item.runId);
      return { state: 'going', deleted: await cleanupStep(client, { ...item, position }) };
    },

    skipTarget: (error) => db.run('skipTarget', error),
    cancel: (reason) => db.hasRow('cancel', reason),
    latest: () => runOf(null),
  };
}

/** The targets share the time limit of an answer. */
const TARGET_WITHIN_MS = Math.floor(COUNT_WITHIN_MS / CLEANUP_TARGETS.length);

/** Counts the rows that a cleanup would remove, in bounded time. */
async function planCleanup(
  client: SqlClient,
  configs: readonly CleanupConfig[],
  at: Parameters<CleanupRecords['plan']>[0],
): Promise<CleanupPlan> {
  const items: CleanupPlanItem[] = [];
  // One after the other, because results are written through the same few connections.
  for (const target of CLEANUP_TARGETS) {
    const config = configs.find((one) => one.target === target);
    if (config?.enabled !== true) continue;
    const { id, retentionDays } = config;
    const bounds = cleanupBounds(target, retentionDays, at.nowMs, at.calendar);
    const expired = expiredRows({ target, ...bounds, changeMark: at.changeMark });
    const count = await countWithin(client, expired, [], TARGET_WITHIN_MS);
    items.push({ id, target, retentionDays, ...bounds, ...count });
  }
  return { items, changeMark: at.changeMark };
}
