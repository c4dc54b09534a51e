// The audit trail as rows, and the results of changes by requests that may be sent again. `before` and `after` are stored as JSON
// with the public names of their fields.
import type { AuditEntry } from '../../../domain/audit.ts';
import type { AuditRecord, AuditRecords, MadeChanges } from '../../ports/records/audit-records.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import { countWithin } from '../client/bounded-count.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './audit.sql';

const sql = statements(file);

/** @param month YYYY-MM; fails if it has no partition (partitions.ts). */
export function appendAudit(tx: SqlRunner, month: string, entries: readonly AuditEntry[]): Promise<void> {
  return sql.on(tx).run('append', monthStart(month), jsonOf(entries));
}

export function sqlAudit(client: SqlClient): AuditRecords {
  return {
    async append(month, entries) {
      if (entries.length === 0) return;
      // A separate transaction, so that an enclosing one survives a missing partition.
      await withPartitions(client, month, () => client.transaction((tx) => appendAudit(tx, month, entries)));
    },

    async list({ sinceMs, untilMs, actor, action, object }, { offset, limit }) {
      const filter = [sinceMs, untilMs, actor, action, object];
      const items = await sql.on(client).rows<AuditRecord>('page', ...filter, offset, limit);
      const { rows: total } = await countWithin(client, sql.text('matching'), filter);
      // The count may be an estimate, so the page corrects it: its rows exist, and no rows follow an empty page.
      const isPastEnd = items.length === 0;
      return { items, total: isPastEnd ? Math.min(total, offset) : Math.max(total, offset + items.length) };
    },

    changes: ({ fromMs, toMs }, actions, most) =>
      sql.on(client).rows<AuditRecord>('changes', fromMs, toMs, actions, most),

    find: (id) => sql.on(client).first<AuditRecord>('find', id),

    later: ({ id, atMs }, objects) => sql.on(client).rows<AuditRecord>('later', id, atMs, objects),
  };
}

/** Results older than a day are removed when the next one is added. */
export function sqlMadeChanges(client: SqlClient): MadeChanges {
  const db = sql.on(client);
  return {
    find: (key) => db.scalar('madeChange', key),

    async add(key, result) {
      await db.run('forgetChanges');
      await db.run('addChange', key, result);
    },
  };
}
