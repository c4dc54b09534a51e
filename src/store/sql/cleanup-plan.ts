// What a cleanup would remove, counted in bounded time. Used by cleanup.ts.
import { CLEANUP_TARGETS, type CleanupConfig, cleanupBounds } from '../../domain/cleanup.ts';
import type { MonthCalendar } from '../../domain/usage-month.ts';
import type { CleanupPlan, CleanupPlanItem } from '../ports/cleanup-records.ts';
import { countWithin } from './bounded-count.ts';
import { bindCondition, TARGET_TABLES } from './cleanup-targets.ts';
import type { SqlClient } from './sql-client.ts';

/** All targets together stay well within what the admin API allows an answer. */
const COUNT_WITHIN_MS = Math.floor(2_000 / CLEANUP_TARGETS.length);

export async function planCleanup(
  client: SqlClient,
  configs: readonly CleanupConfig[],
  at: { readonly nowMs: number; readonly calendar: MonthCalendar; readonly changeMark: string | null },
): Promise<CleanupPlan> {
  const items: CleanupPlanItem[] = [];
  // One after the other: results are being written through the same few connections.
  for (const target of CLEANUP_TARGETS) {
    const config = configs.find((one) => one.target === target);
    if (config?.enabled !== true) continue;
    const { id, retentionDays } = config;
    const bounds = cleanupBounds(target, retentionDays, at.nowMs, at.calendar);
    const { table, expired } = TARGET_TABLES[target];
    const count = await countWithin(
      client,
      table,
      bindCondition(expired, bounds, at.changeMark),
      COUNT_WITHIN_MS,
    );
    items.push({ id, target, retentionDays, ...bounds, ...count });
  }
  return { items, changeMark: at.changeMark };
}
