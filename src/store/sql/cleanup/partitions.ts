// Monthly partitions of usage and of the audit trail: they are made before they are needed, and an expired one is detached
// without blocking writers, then dropped. Used by every file that writes into them, and by cleanup-step.ts, which notes between
// the two what is being dropped, so that a half-detached partition is found again.
import { CardpollError } from '../../../platform/errors.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { sqlStateOf } from '../client/sql-errors.ts';
import { fill, statements } from '../client/statements.ts';
import { lockKey } from '../client/transaction-bounds.ts';
import file from './partitions.sql';

const sql = statements(file);

/** What an insert without a matching partition raises. */
const CHECK_VIOLATION = '23514';
const LOCK_KEY = 7_220_115_502;
const MONTHS_AHEAD = 3;

/** Storage of the partitions of each table: usage rows are rewritten in place, the others never. */
const STORAGE: Readonly<Record<string, string>> = {
  card_usage: 'WITH (fillfactor = 80)',
  usage_records: '',
  audit: '',
};

/** One that is to be made, as the parts of its statements. */
type Partition = Readonly<Record<'table' | 'partition' | 'from' | 'to', string>>;

/** YYYY-MM -> YYYY-MM-01. Throws `invalid`. */
export function monthStart(month: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
    throw new CardpollError('invalid', 'bad_month', `'${month}' is not a month (YYYY-MM)`);
  }
  return `${month}-01`;
}

/** Creates what is missing of the partitions of `month` (YYYY-MM) and the next three. */
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

/** Does `write` again with the partitions of `months` where it failed for the lack of one. */
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
 * Takes the partition out of its table. Waits for transactions that use the table but holds no lock they or later ones
 * wait for. Interrupted, it is finished by the next call. Throws `unavailable` when a long transaction stands in the way.
 */
export async function detachPartition(client: SqlClient, table: string, name: string): Promise<void> {
  const isPending = await sql.on(client).scalar<boolean>('state', name);
  if (isPending === null) return;
  const statement = isPending ? sql.text('finishDetaching') : sql.text('detach');
  await client.query(fill(statement, { table, partition: name }));
}
