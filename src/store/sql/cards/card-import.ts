// Writes the chunks of a card import: into a temporary table (COPY where the driver has it), then one statement that touches only
// the cards that differ. A chunk of new cards is copied straight into the table of the cards, in a third of the time. Used by
// cards.ts; parsing and validation are in operations/cards/card-import.ts.
import { type CardImport, IMPORT_FIELDS, NO_VENDOR_ID, ROUNDED_END } from '../../../domain/cards/card.ts';
import { type HeldNumber, takenNumbers } from '../../../domain/cards/taken-numbers.ts';
import { goesOver } from '../../../domain/orders/decide.ts';
import { fitsWith } from '../../../domain/orders/stopped-within.ts';
import { snakeKeys } from '../../../platform/snake-keys.ts';
import type { ImportChunkOptions, ImportedChunk } from '../../ports/records/card-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlClient, SqlTransaction } from '../client/sql-client.ts';
import {
  DEADLOCK,
  EXCLUSION_VIOLATION,
  retryConflicts,
  SERIALIZATION_FAILURE,
  sqlStateOf,
  UNIQUE_VIOLATION,
} from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import { factsOf } from '../orders/card-orders.ts';
import { judgeStoppedWithin } from '../stops/stopped-within.ts';
import { toImport, withColumns } from './card-columns.ts';
import file from './card-import.sql';

const sql = statements(withColumns(file));

type ChunkRow = Pick<ImportedChunk, 'inserted' | 'updated' | 'newIccids' | 'rounded' | 'twins'> & {
  readonly former: ReadonlyArray<Parameters<typeof toImport>[0]> | null;
};

const NOTHING: ImportedChunk = {
  ...{
    inserted: 0,
    updated: 0,
    unchanged: 0,
    conflicts: [],
    overPackage: 0,
    stoppedWithin: 0,
    refused: false,
  },
  ...{ newIccids: 0, rounded: [], twins: [], former: [] },
};

const CONFLICTS = [DEADLOCK, SERIALIZATION_FAILURE, UNIQUE_VIOLATION, EXCLUSION_VIOLATION];

export async function importChunk(
  client: SqlClient,
  rows: readonly CardImport[],
  options: ImportChunkOptions = {},
): Promise<ImportedChunk> {
  const isTried = options.expectNew === true && options.dryRun !== true;
  const copied = isTried ? await copyNew(client, rows) : null;
  if (copied !== null) return copied;
  // The next attempt sees, and reports, a card or iccid that another import is inserting now.
  return retryConflicts(CONFLICTS, () => client.transaction((tx) => writeChunk(tx, rows, options)));
}

/** @returns null, with nothing written, if a row is of a known card or has a used ICCID or vendor id. */
async function copyNew(client: SqlClient, rows: readonly CardImport[]): Promise<ImportedChunk | null> {
  if (client.copyIn === undefined) return null;
  // In card order, so that concurrent imports cannot deadlock.
  const inOrder = rows.toSorted((a, b) => a.cardId - b.cardId);
  try {
    await client.copyIn(sql.text('copyNew'), inOrder.map((row) => copyLine(asNew(row))).join(''));
  } catch (error) {
    if (CONFLICTS.includes(sqlStateOf(error))) return null;
    throw error;
  }
  const rounded = rows.filter(({ iccid }) => iccid.endsWith(ROUNDED_END)).map(({ cardId }) => cardId);
  const counts = { inserted: rows.length, updated: 0, unchanged: 0, newIccids: rows.length };
  return { ...NOTHING, ...counts, rounded };
}

/** Fills in the defaults of a new card for fields that the row leaves open. */
function asNew(row: CardImport): CardImport {
  const vendorId = row.vendorId === NO_VENDOR_ID ? null : row.vendorId;
  return { ...row, vendorId, realNameVerified: row.realNameVerified ?? false };
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
  const held = await db.rows<HeldNumber>('heldNumbers');
  const conflicts = takenNumbers(rows, held);
  const refused = conflicts.map(({ cardId }) => cardId);
  if (refused.length > 0) await db.run('leaveOut', refused);
  if (held.length > 0) await db.run('exchange');
  const overPackage = month === undefined ? 0 : await overPackageBy(tx, rows, month);
  if (!dryRun && overPackage > (mostOverPackage ?? Number.POSITIVE_INFINITY))
    return { ...NOTHING, conflicts, overPackage, refused: true };
  const fitting = month === undefined ? [] : await stoppedWithinBy(tx, rows, month);
  const chunk = await db.one<ChunkRow>('chunk', dryRun, overwriteVerified, keepFormer, ROUNDED_END);
  const { inserted, updated, former } = chunk;
  if (!dryRun && month !== undefined && fitting.length > 0) await judgeStoppedWithin(tx, fitting, month);
  return {
    ...chunk,
    conflicts,
    overPackage,
    stoppedWithin: fitting.length,
    refused: false,
    unchanged: rows.length - inserted - updated - conflicts.length,
    former: former?.map(toImport) ?? [],
  };
}

/** @returns the number of cards that import_rows put over their package. */
async function overPackageBy(
  tx: SqlTransaction,
  rows: readonly CardImport[],
  month: string,
): Promise<number> {
  const lowered = await sql.on(tx).column<number>('lowered', monthStart(month));
  if (lowered.length === 0) return 0;
  const rowOf = new Map(rows.map((row) => [row.cardId, row]));
  const { cards } = await factsOf(tx, lowered, month);
  return cards.filter((card) => {
    const row = rowOf.get(card.cardId);
    return row !== undefined && goesOver(card, row);
  }).length;
}

/** @returns the cards that cardpoll stopped, that were over their former package and are within the one in import_rows. */
async function stoppedWithinBy(
  tx: SqlTransaction,
  rows: readonly CardImport[],
  month: string,
): Promise<number[]> {
  const raised = await sql.on(tx).column<number>('raised', monthStart(month));
  if (raised.length === 0) return [];
  const rowOf = new Map(rows.map((row) => [row.cardId, row]));
  const { cards } = await factsOf(tx, raised, month);
  const fitting = cards.filter((card) => {
    const row = rowOf.get(card.cardId);
    return row !== undefined && fitsWith(card, row);
  });
  return fitting.map(({ cardId }) => cardId);
}

async function fill(tx: SqlTransaction, rows: readonly CardImport[]): Promise<void> {
  if (tx.copyIn !== undefined) {
    await tx.copyIn(
      sql.text('copyRows'),
      rows.map((row, position) => `${position}\t${copyLine(row)}`).join(''),
    );
    return;
  }
  const named = rows.map((row, position) => snakeKeys({ position, ...row }));
  await sql.on(tx).run('insertRows', JSON.stringify(named));
}

/** A row in COPY's text format. */
function copyLine(row: CardImport): string {
  return `${IMPORT_FIELDS.map((field) => copyText(row[field])).join('\t')}\n`;
}

/** Only a text may contain a character that COPY interprets; no text has a control character. */
function copyText(value: CardImport[keyof CardImport]): string | number | boolean {
  return typeof value === 'string' ? value.replaceAll('\\', '\\\\') : (value ?? '\\N');
}
