// Writes the chunks of a card import: one statement that touches only the cards that differ. Used by cards.ts; parsing and
// validation are operations/cards/card-import.ts.
import type { CardImport } from '../../../domain/cards/card.ts';
import { snakeKeys } from '../../../platform/snake-keys.ts';
import type { ImportChunkOptions, ImportedChunk } from '../../ports/records/card-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { DEADLOCK, retryConflicts, SERIALIZATION_FAILURE, UNIQUE_VIOLATION } from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import { toImport, withColumns } from './card-columns.ts';
import file from './card-import.sql';

const sql = statements(withColumns(file));

type ChunkRow = Omit<ImportedChunk, 'unchanged' | 'former'> & {
  readonly former: ReadonlyArray<Parameters<typeof toImport>[0]> | null;
};

export async function importChunk(
  client: SqlClient,
  rows: readonly CardImport[],
  {
    dryRun = false,
    overwriteVerified = false,
    keepFormer = false,
    month,
    mostOverPackage,
  }: ImportChunkOptions = {},
): Promise<ImportedChunk> {
  const firstDay = month === undefined ? null : `${month}-01`;
  const given = JSON.stringify(snakeKeys(rows));
  const params = [dryRun, overwriteVerified, firstDay, mostOverPackage ?? null, keepFormer, given];
  // The next attempt sees, and reports, a card or iccid that another import inserts at this moment.
  const [chunk] = (await retryConflicts([DEADLOCK, SERIALIZATION_FAILURE, UNIQUE_VIOLATION], () =>
    // Not prepared: a plan that was made while there were few cards would read all of them for every chunk.
    client.query<ChunkRow>(sql.text('chunk'), params),
  )) as [ChunkRow];
  const { inserted, updated, conflicts, former } = chunk;
  return {
    ...chunk,
    unchanged: rows.length - inserted - updated - conflicts.length,
    former: former?.map(toImport) ?? [],
  };
}
