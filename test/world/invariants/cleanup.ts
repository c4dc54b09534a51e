import type { Invariant } from '../invariant.ts';
import { OLD_ALERTS, OLD_RULE } from '../world.ts';

/** A run goes on under the next leader, and its steps are repeated. */
const WITHIN_MS = 120_000;

export const cleanup: Invariant = {
  name: 'cleanup',
  says: 'A cleanup removes as many rows as its preview says, none that the retention keeps, and ends.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.time.now - (world.calmSince ?? 0) < WITHIN_MS) return;
      const runs = await world.store.sql<{ runId: string; status: string; deleted: number }>(
        `select r.run_id, r.status, i.deleted from cleanup_runs r join cleanup_run_items i using (run_id)
         where i.target = 'alert_history'`,
      );
      for (const { runId, status, deleted } of runs) {
        check(status !== 'running', () => `cleanup ${runId} has not ended`);
        const preview = world.previews.get(runId);
        if (preview === undefined || status !== 'completed' || world.lastReturn.at > preview.at) continue;
        check(
          deleted === preview.rows,
          () => `cleanup ${runId} removed ${deleted} rows, of ${preview.rows} in its preview`,
        );
      }
      const [row] = await world.store.sql<{ kept: number }>(
        `select count(*) as kept from alert_history where rule_id = ${OLD_RULE}`,
      );
      const kept = Math.min(OLD_ALERTS, world.leastRetentionDays);
      check(
        Number(row?.kept) >= kept,
        () => `${row?.kept} alerts are left, of ${kept} that the retention keeps`,
      );
    },
  }),
};
