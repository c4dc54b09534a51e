// Applies the schema: forward only, each file in its own transaction, one migrator at a time. Called by `cardpoll migrate` and
// when a daemon starts.
//
// Every transaction takes the same advisory lock and checks again which migrations are applied. So any number of instances may
// call `up` at once: one applies, the others wait (for a bounded time) and find nothing left to do.
import { createHash } from 'node:crypto';
import { CardpollError } from '../../platform/errors.ts';
import type { Migrations } from '../ports/records/record-store.ts';
import type { SqlClient, SqlRunner, SqlTransaction } from './client/sql-client.ts';
import { sqlStateOf } from './client/sql-errors.ts';
import { statements } from './client/statements.ts';
import { limitLockWaits, lockKey } from './client/transaction-bounds.ts';
import * as SOURCES from './migration-list.ts';
import file from './migrator.sql';

const sql = statements(file);

const LOCK_KEY = 7_220_115_501;
const LOCK_WAIT_MS = 10_000;
const LOCK_NOT_AVAILABLE = '55P03';

interface Migration {
  readonly id: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = Object.entries(SOURCES).map(([id, sql]) => ({ id, sql }));

interface AppliedRow {
  readonly id: string;
  readonly checksum: string;
  readonly appliedAtMs: number;
}

export function sqlMigrations(
  client: SqlClient,
  list: readonly Migration[] = MIGRATIONS,
  lockWaitMs = LOCK_WAIT_MS,
): Migrations {
  const own = list.map(({ id }) => id);
  const lastNumber = Math.max(...own.map(numberOf));

  /** Two migrations with the same number come from different lines of development; the numbers of later releases are larger. */
  async function readApplied(runner: SqlRunner): Promise<Map<string, AppliedRow>> {
    const db = sql.on(runner);
    const rows = (await db.scalar<boolean>('tablePresent')) ? await db.rows<AppliedRow>('applied') : [];
    const foreign = rows.find(({ id }) => !own.includes(id) && numberOf(id) <= lastNumber);
    if (foreign === undefined) return new Map(rows.map((row) => [row.id, row]));
    throw new CardpollError(
      'config',
      'development_database',
      `the database was migrated by a development build of cardpoll (migration ${foreign.id}), which no release can use`,
      {
        hint: 'Restore the backup from before that build, or begin with an empty database or data directory.',
      },
    );
  }

  function missing(applied: Map<string, AppliedRow>): Migration[] {
    return list.filter((migration) => {
      const row = applied.get(migration.id);
      if (row !== undefined && row.checksum !== checksumOf(migration)) {
        throw new CardpollError(
          'config',
          'migration_changed',
          `migration ${migration.id} changed after it was applied`,
          { hint: 'Install the cardpoll release this database was migrated with, or a later one.' },
        );
      }
      return row === undefined;
    });
  }

  /** @returns false when another instance applied it meanwhile. */
  function apply(migration: Migration): Promise<boolean> {
    return client.transaction(async (tx) => {
      await lock(tx, lockWaitMs);
      if (!missing(await readApplied(tx)).includes(migration)) return false;
      // No time limit: building an index over millions of cards takes long.
      await tx.script(migration.sql);
      await sql.on(tx).run('record', migration.id, checksumOf(migration));
      return true;
    });
  }

  return {
    async status() {
      const applied = await readApplied(client);
      const newer = [...applied.keys()].filter((id) => !own.includes(id)).sort();
      return [...own, ...newer].map((id) => ({
        id,
        appliedAtMs: applied.get(id)?.appliedAtMs ?? null,
        newer: newer.includes(id),
      }));
    },

    async up(onBegin = () => {}) {
      const done: string[] = [];
      for (const migration of missing(await readApplied(client))) {
        onBegin(migration.id);
        if (await apply(migration)) done.push(migration.id);
      }
      return done;
    },
  };
}

async function lock(tx: SqlTransaction, waitMs: number): Promise<void> {
  try {
    await limitLockWaits(tx, waitMs);
    await lockKey(tx, LOCK_KEY);
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new CardpollError(
      'busy',
      'migration_lock_held',
      'migration lock held: another instance is migrating',
      { hint: 'Try again when it has finished.', cause: error },
    );
  }
  await sql.on(tx).run('createTable');
}

function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

function numberOf(id: string): number {
  return Number.parseInt(id, 10);
}
