// Cleanup configs and runs: what stands in the records. What a step removes is cleanup-step.ts, what has expired
// cleanup-targets.ts.
import { CLEANUP_TARGETS, type CleanupConfig, cleanupBounds } from '../../../domain/cleanup.ts';
import type {
  CleanupPlan,
  CleanupPlanItem,
  CleanupRecords,
  CleanupRun,
  CleanupStep,
} from '../../ports/records/cleanup-records.ts';
import { COUNT_WITHIN_MS, countWithin } from '../client/bounded-count.ts';
import { firstOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './cleanup.sql';
import { cleanupStep, type RunItem } from './cleanup-step.ts';
import { expiredRows } from './cleanup-targets.ts';
import { monthStart } from './partitions.ts';

const sql = statements(file);

/** A running run with the first target it is not through with; null: it is through with all. */
type NextRow = Omit<RunItem, 'position'> & { readonly position: number | null };

export function sqlCleanup(client: SqlClient): CleanupRecords {
  const configs = () => client.query<CleanupConfig>(sql('configs'), [CLEANUP_TARGETS]);

  /** Another instance may have finished it: then there is nothing more to say. */
  async function finish(runId: string): Promise<CleanupStep> {
    const finished = await client.query(sql('finish'), [runId]);
    const run = finished.length === 0 ? null : await runOf(runId);
    return run === null ? { state: 'idle' } : { state: 'finished', run };
  }

  /** @param id null: the run begun last. */
  const runOf = (id: string | null) => firstOf(client.query<CleanupRun>(sql('run'), [id]));

  return {
    configs,

    updateConfig(id, { retentionDays = null, enabled = null }) {
      const params = [id, retentionDays, enabled, CLEANUP_TARGETS];
      return firstOf(client.query<CleanupConfig>(sql('updateConfig'), params));
    },

    plan: async (at) => planCleanup(client, await configs(), at),

    begin(runId, { items, changeMark }, scheduledForMs) {
      return client.transaction(async (tx) => {
        const begun = await tx.query(sql('begin'), [runId, scheduledForMs]);
        if (begun.length === 0) return false;
        await tx.query(sql('beginItems'), [
          runId,
          changeMark,
          items.map((item) => item.target),
          items.map((item) => item.cutoffMs),
          items.map((item) => monthStart(item.firstKeptMonth)),
          items.map((item) => item.rows),
        ]);
        return true;
      });
    },

    async step() {
      const [next] = await client.query<NextRow>(sql('next'));
      if (next === undefined) return { state: 'idle' };
      const { position, ...item } = next;
      if (position === null) return finish(item.runId);
      return { state: 'going', deleted: await cleanupStep(client, { ...item, position }) };
    },

    async skipTarget(error) {
      await client.query(sql('skipTarget'), [error]);
    },

    cancel: async (reason) => (await client.query(sql('cancel'), [reason])).length > 0,
    latest: () => runOf(null),
  };
}

/** The targets share what an answer may take. */
const TARGET_WITHIN_MS = Math.floor(COUNT_WITHIN_MS / CLEANUP_TARGETS.length);

/** What a cleanup would remove, counted in bounded time. */
async function planCleanup(
  client: SqlClient,
  configs: readonly CleanupConfig[],
  at: Parameters<CleanupRecords['plan']>[0],
): Promise<CleanupPlan> {
  const items: CleanupPlanItem[] = [];
  // One after the other: results are being written through the same few connections.
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
