// Monthly partitions of usage and of the audit trail: created before they are needed; an expired one is detached without blocking
// writers, then dropped. Used by every file that writes into them, and by cleanup-step.ts, which records the partition between
// the two, so that a half-detached one is found again.
import { CardpollError } from '../../../platform/errors.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { sqlStateOf } from '../client/sql-errors.ts';
import { fill, statements } from '../client/statements.ts';
import { lockKey } from '../client/transaction-bounds.ts';
import file from './partitions.sql';

const sql = statements(file);

/** The SQLSTATE of an insert without a matching partition. */
const CHECK_VIOLATION = '23514';
const LOCK_KEY = 7_220_115_502;
const MONTHS_AHEAD = 3;

/** Storage of the partitions of each table: usage rows are rewritten in place, the others never. */
const STORAGE: Readonly<Record<string, string>> = {
  card_usage: 'WITH (fillfactor = 80)',
  usage_records: '',
  audit: '',
};

/** A partition to create, as the parts of its statements. */
type Partition = Readonly<Record<'table' | 'partition' | 'from' | 'to', string>>;

/** YYYY-MM -> YYYY-MM-01. Throws `invalid`. */
export function monthStart(month: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
    throw new CardpollError('invalid', 'bad_month', `'${month}' is not a month (YYYY-MM)`);
  }
  return `${month}-01`;
}

/** Creates the missing partitions of `month` (YYYY-MM) and the next three. */
export async function ensurePartitions(client: SqlClient, month: string): Promise<void> {
  const wanted = [Object.keys(STORAGE), monthStart(month), MONTHS_AHEAD];
  if (!(await sql.on(client).hasRow('missing', ...wanted))) return;
  await client.transaction(async (tx) => {
    await lockKey(tx, LOCK_KEY);
    for (const parts of await sql.on(tx).rows<Partition>('missing', ...wanted)) {
      await tx.query(fill(sql.text('create'), { ...parts, storage: STORAGE[parts.table] ?? '' }));
      await tx.query(fill(sql.text('attach'), { ...parts }));
    }
  });
}

/** Runs `write`; if it fails without a partition, creates the partitions of `months` and repeats it. */
export async function withPartitions<T>(
  client: SqlClient,
  months: string | (() => Promise<Iterable<string>>),
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (sqlStateOf(error) !== CHECK_VIOLATION) throw error;
    for (const month of typeof months === 'string' ? [months] : await months())
      await ensurePartitions(client, month);
    return write();
  }
}

/**
 * Detaches the partition from its table. Waits for transactions that use the table, but holds no lock that they or later ones
 * wait for. The next call finishes an interrupted one. Throws `unavailable` when a long transaction blocks it.
 */
export async function detachPartition(client: SqlClient, table: string, name: string): Promise<void> {
  const isPending = await sql.on(client).scalar<boolean>('state', name);
  if (isPending === null) return;
  const statement = isPending ? sql.text('finishDetaching') : sql.text('detach');
  await client.query(fill(statement, { table, partition: name }));
}
