// Writes the chunks of a card import: into a temporary table (COPY where the driver has it), then one statement that
// touches only the cards that differ. Opened by cards.ts; parsing and validation are operations/card-import.ts.
import type { CardImport } from '../../domain/card.ts';
import type {
  CardImportSession,
  ImportConflict,
  ImportCounts,
  ImportSessionOptions,
} from '../ports/card-records.ts';
import checkChunk from './queries/check-chunk.sql';
import importCandidates from './queries/import-candidates.sql';
import importChunk from './queries/import-chunk.sql';
import { DEADLOCK, retryConflicts, SERIALIZATION_FAILURE, UNIQUE_VIOLATION } from './retry-conflicts.ts';
import type { SqlClient, SqlTransaction } from './sql-client.ts';

const COLUMNS = 'position, card_id, iccid, carrier_id, status, allowance_mb, real_name_verified';

interface ChunkRow {
  readonly inserted: number;
  readonly updated: number;
  readonly conflict_ids: string | null;
  readonly conflict_iccids: string | null;
}

export class SqlCardImportSession implements CardImportSession {
  readonly #sql: string;

  constructor(
    private readonly client: SqlClient,
    { dryRun }: ImportSessionOptions,
  ) {
    this.#sql = `${importCandidates}${dryRun ? checkChunk : importChunk}`;
  }

  write(rows: readonly CardImport[]): Promise<ImportCounts & { conflicts: readonly ImportConflict[] }> {
    // A card or iccid that somebody else inserts at this moment is seen, and reported, by the next attempt.
    return retryConflicts([DEADLOCK, SERIALIZATION_FAILURE, UNIQUE_VIOLATION], () =>
      this.client.transaction((tx) => writeChunk(tx, rows, this.#sql)),
    );
  }

  async close(): Promise<void> {
    // Nothing is held between chunks.
  }
}

async function writeChunk(tx: SqlTransaction, rows: readonly CardImport[], sql: string) {
  await tx.query(`CREATE TEMPORARY TABLE IF NOT EXISTS import_rows (
    position integer, card_id bigint, iccid text, carrier_id integer, status integer,
    allowance_mb double precision, real_name_verified boolean) ON COMMIT DELETE ROWS`);
  await fill(tx, rows);
  // Keys are looked up: for ten thousand of them the planner would rather read all cards, chunk after chunk.
  await tx.script('SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off');
  const [result] = await tx.query<ChunkRow>(sql);
  const conflicts = toConflicts(result);
  const inserted = result?.inserted ?? 0;
  const updated = result?.updated ?? 0;
  return { inserted, updated, unchanged: rows.length - inserted - updated - conflicts.length, conflicts };
}

async function fill(tx: SqlTransaction, rows: readonly CardImport[]): Promise<void> {
  if (tx.copyIn !== undefined) {
    await tx.copyIn(`COPY import_rows (${COLUMNS}) FROM STDIN`, rows.map(toCopyLine).join(''));
    return;
  }
  await tx.query(
    `INSERT INTO import_rows (${COLUMNS}) SELECT * FROM unnest(
      $1::integer[], $2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::float8[], $7::boolean[])`,
    [
      rows.map((_, position) => position),
      rows.map((row) => row.cardId),
      rows.map((row) => row.iccid),
      rows.map((row) => row.carrierId),
      rows.map((row) => row.status),
      rows.map((row) => row.allowanceMb),
      rows.map((row) => row.realNameVerified),
    ],
  );
}

/** Numbers, booleans and digits need no escaping; an iccid that were something else is refused by the table. */
function toCopyLine(row: CardImport, position: number): string {
  const iccid = row.iccid.replace(/[\\\t\n\r]/g, '?');
  return `${position}\t${row.cardId}\t${iccid}\t${row.carrierId}\t${row.status}\t${row.allowanceMb ?? '\\N'}\t${row.realNameVerified ?? '\\N'}\n`;
}

function toConflicts(row: ChunkRow | undefined): ImportConflict[] {
  if (row === undefined || row.conflict_ids === null || row.conflict_iccids === null) return [];
  const iccids = row.conflict_iccids.split(',');
  return row.conflict_ids.split(',').map((cardId, i) => ({ cardId: Number(cardId), iccid: iccids[i] ?? '' }));
}
