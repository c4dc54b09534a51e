// Writes the chunks of a card import: into a temporary table (COPY where the driver has it), then one statement that
// touches only the cards that differ. Used by cards.ts; parsing and validation are operations/cards/card-import.ts.
import { type CardImport, IMPORT_FIELDS } from '../../../domain/cards/card.ts';
import { snakeKeys } from '../../../platform/snake-keys.ts';
import type { ImportChunkOptions, ImportedChunk } from '../../ports/records/card-records.ts';
import type { SqlClient, SqlTransaction } from '../client/sql-client.ts';
import { DEADLOCK, retryConflicts, SERIALIZATION_FAILURE, UNIQUE_VIOLATION } from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import { toImport, withColumns } from './card-columns.ts';
import file from './card-import.sql';

const sql = statements(withColumns(file));

type ChunkRow = Omit<ImportedChunk, 'unchanged' | 'former'> & {
  readonly former: ReadonlyArray<Parameters<typeof toImport>[0]> | null;
};

export function importChunk(
  client: SqlClient,
  rows: readonly CardImport[],
  options: ImportChunkOptions = {},
): Promise<ImportedChunk> {
  // The next attempt sees, and reports, a card or iccid that another import inserts at this moment.
  return retryConflicts([DEADLOCK, SERIALIZATION_FAILURE, UNIQUE_VIOLATION], () =>
    client.transaction((tx) => writeChunk(tx, rows, options)),
  );
}

async function writeChunk(
  tx: SqlTransaction,
  rows: readonly CardImport[],
  {
    dryRun = false,
    overwriteVerified = false,
    keepFormer = false,
    month,
    mostOverPackage,
  }: ImportChunkOptions,
): Promise<ImportedChunk> {
  const db = sql.on(tx);
  await db.run('createRows');
  await fill(tx, rows);
  await db.run('planByKeys');
  const { plannedForFewer } = await db.one<{ plannedForFewer: boolean }>('plannedForFewer', rows.length);
  if (plannedForFewer) await db.run('analyze');
  const since = month === undefined ? null : `${month}-01`;
  const params = [dryRun, overwriteVerified, since, mostOverPackage ?? null, keepFormer];
  const chunk = await db.one<ChunkRow>('chunk', ...params);
  const { inserted, updated, conflicts, former } = chunk;
  return {
    ...chunk,
    unchanged: rows.length - inserted - updated - conflicts.length,
    former: former?.map(toImport) ?? [],
  };
}

async function fill(tx: SqlTransaction, rows: readonly CardImport[]): Promise<void> {
  if (tx.copyIn !== undefined) {
    await tx.copyIn(sql.text('copyRows'), rows.map(toCopyLine).join(''));
    return;
  }
  const named = rows.map((row, position) => snakeKeys({ position, ...row }));
  await sql.on(tx).run('insertRows', JSON.stringify(named));
}

/** In COPY's text format, in the order of the temporary table. */
function toCopyLine(row: CardImport, position: number): string {
  const values = IMPORT_FIELDS.map((field) => copyText(row[field]));
  return `${position}\t${values.join('\t')}\n`;
}

/** Only a text may have a character that COPY would read; no text has a control character. */
function copyText(value: CardImport[keyof CardImport]): string | number | boolean {
  return typeof value === 'string' ? value.replaceAll('\\', '\\\\') : (value ?? '\\N');
}
