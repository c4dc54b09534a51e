// What a cleanup would remove, counted in bounded time. Used by cleanup.ts.

import type { MonthCalendar } from '../../../domain/cards/usage-month.ts';
import { CLEANUP_TARGETS, type CleanupConfig, cleanupBounds } from '../../../domain/cleanup.ts';
import type { CleanupPlan, CleanupPlanItem } from '../../ports/records/cleanup-records.ts';
import { COUNT_WITHIN_MS, countWithin } from '../client/bounded-count.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { expiredRows } from './cleanup-targets.ts';

/** The targets share what an answer may take. */
const TARGET_WITHIN_MS = Math.floor(COUNT_WITHIN_MS / CLEANUP_TARGETS.length);

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
    const { sql, params } = expiredRows(target, bounds, at.changeMark);
    const count = await countWithin(client, sql, params, TARGET_WITHIN_MS);
    items.push({ id, target, retentionDays, ...bounds, ...count });
  }
  return { items, changeMark: at.changeMark };
}
