// The audit trail as rows. `before` and `after` are kept as JSON with the names the outside knows.
import type { AuditEntry } from '../../domain/audit.ts';
import { snakeKeys } from '../../platform/snake-keys.ts';
import type { AuditFilter, AuditRecord, AuditRecords } from '../ports/audit-records.ts';
import { countWithin, type SqlCondition } from './bounded-count.ts';
import { monthStart, withPartitions } from './partitions.ts';
import type { SqlClient, SqlRunner, SqlValue } from './sql-client.ts';

const COUNT_WITHIN_MS = 1_000;

interface AuditRow {
  readonly id: number;
  readonly at_ms: number;
  readonly actor: string;
  readonly role: string;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly action: string;
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
}

export class SqlAudit implements AuditRecords {
  constructor(private readonly client: SqlClient) {}

  async append(month: string, entries: readonly AuditEntry[]): Promise<void> {
    if (entries.length === 0) return;
    // A transaction of its own, so that one around it survives a missing partition.
    await withPartitions(this.client, month, () =>
      this.client.transaction((tx) => insert(tx, month, entries)),
    );
  }

  async list(
    filter: AuditFilter,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: AuditRecord[]; total: number }> {
    const { sql, params } = conditionOf(filter);
    const [from, count] = [params.length + 1, params.length + 2];
    const rows = await this.client.query<AuditRow>(
      `SELECT id, (extract(epoch FROM at) * 1000)::bigint AS at_ms, actor, role, address, request_id, action, object,
         before, after
       FROM audit WHERE ${sql} ORDER BY at DESC, id DESC OFFSET $${from}::bigint LIMIT $${count}::integer`,
      [...params, offset, limit],
    );
    const { rows: total } = await countWithin(this.client, 'audit', { sql, params }, COUNT_WITHIN_MS);
    return { items: rows.map(toRecord), total: Math.max(total, offset + rows.length) };
  }
}

async function insert(runner: SqlRunner, month: string, entries: readonly AuditEntry[]): Promise<void> {
  await runner.query(
    `INSERT INTO audit (month, at, actor, role, address, request_id, action, object, before, after)
     SELECT $1::date, to_timestamp(at_ms / 1000), actor, role, address, request_id, action, object,
       before::jsonb, after::jsonb
     FROM unnest($2::float8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
       $10::text[]) AS e (at_ms, actor, role, address, request_id, action, object, before, after)`,
    [
      monthStart(month),
      entries.map(({ atMs }) => atMs),
      entries.map(({ name }) => name),
      entries.map(({ role }) => role),
      entries.map(({ address }) => address),
      entries.map(({ requestId }) => requestId),
      entries.map(({ action }) => action),
      entries.map(({ object }) => object),
      entries.map(({ before }) => jsonOf(before)),
      entries.map(({ after }) => jsonOf(after)),
    ],
  );
}

function jsonOf(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(snakeKeys(value), keepable);
}

/** PostgreSQL keeps neither NUL nor half a surrogate pair. */
function keepable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd') : value;
}

function conditionOf({ sinceMs, untilMs, actor, action }: AuditFilter): SqlCondition {
  const wanted: ReadonlyArray<[SqlValue, (n: number) => string]> = [
    [sinceMs, (n) => `at >= to_timestamp($${n}::float8 / 1000)`],
    [untilMs, (n) => `at < to_timestamp($${n}::float8 / 1000)`],
    [actor, (n) => `actor = $${n}`],
    [action, (n) => `(action = $${n} OR starts_with(action, $${n} || '.'))`],
  ];
  const given = wanted.filter(([value]) => value !== null);
  return {
    sql: given.map(([, condition], i) => condition(i + 1)).join(' AND ') || 'true',
    params: given.map(([value]) => value),
  };
}

function toRecord({ at_ms: atMs, request_id: requestId, actor, ...row }: AuditRow): AuditRecord {
  return { ...row, name: actor, atMs, requestId };
}
