// The two formats of a card import or export, and the text of an export. Used by card-import.ts and cards.ts. import-lines.ts
// splits a file into lines, the readers turn them into rows, and import-columns.ts turns a row into a card.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CardImport, IMPORT_FIELDS } from '../../domain/cards/card.ts';
import type { CardFilter } from '../../domain/cards/card-filter.ts';
import { csvLine } from '../../domain/cards/csv-line.ts';
import type { ImportFormat } from '../../resources/cards.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import { CsvReader } from './csv-reader.ts';
import { IMPORT_COLUMNS, type RowReader } from './import-columns.ts';
import { NdjsonReader } from './ndjson-reader.ts';

/** @param ignored collects the names of unknown columns; null: they are refused. */
export function rowReader(format: ImportFormat, ignored: Set<string> | null): RowReader {
  return format === 'csv' ? new CsvReader(ignored) : new NdjsonReader(ignored);
}

const STRETCH = 1_000;

/**
 * Exports the cards that match a filter as text: CSV with the columns of an import, or one JSON object per line. Reads the next
 * cards only when the reader wants more, so memory does not depend on their number. Cards that change during the export appear in
 * their state at reading. @throws the store's errors, even after the first lines.
 */
export async function* exportCards(
  cards: Pick<CardRecords, 'list'>,
  filter: CardFilter,
  format: ImportFormat,
): AsyncGenerator<string> {
  const line =
    format === 'csv' ? (card: CardImport) => csvLine(IMPORT_FIELDS.map((field) => card[field])) : jsonLine;
  if (format === 'csv') yield csvLine(IMPORT_COLUMNS);
  let afterId: number | null = 0;
  while (afterId !== null) {
    const stretch: Awaited<ReturnType<CardRecords['list']>> = await cards.list(filter, afterId, STRETCH);
    if (stretch.cards.length > 0) yield stretch.cards.map(line).join('');
    afterId = stretch.nextAfterId;
    // Lets polls of the same process run in between.
    await nextTurn();
  }
}

export function jsonLine(card: CardImport): string {
  const row = IMPORT_FIELDS.map((field, i) => [IMPORT_COLUMNS[i], card[field]] as const);
  return `${JSON.stringify(Object.fromEntries(row))}\n`;
}
