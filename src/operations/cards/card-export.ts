// Exports all cards, or the cards that match a filter, as text: CSV with the columns of an import, or one JSON object a
// line. Used by the admin API. Reads the next cards only when the reader wants more, so memory does not depend on their
// number. Cards that change meanwhile appear as they are when they are read.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CardImport, IMPORT_FIELDS } from '../../domain/cards/card-import.ts';
import type { CardFilter, CardRecords } from '../../store/ports/records/card-records.ts';
import { IMPORT_COLUMNS, type ImportFormat } from './card-import-format.ts';

const STRETCH = 1_000;

/** @throws the store's errors, even after the first lines. */
export async function* exportCards(
  cards: Pick<CardRecords, 'list'>,
  filter: CardFilter,
  format: ImportFormat,
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLine : jsonLine;
  if (format === 'csv') yield `${IMPORT_COLUMNS.join(',')}\n`;
  let afterId: number | null = 0;
  while (afterId !== null) {
    const stretch: Awaited<ReturnType<CardRecords['list']>> = await cards.list(filter, afterId, STRETCH);
    if (stretch.cards.length > 0) yield stretch.cards.map(line).join('');
    afterId = stretch.nextAfterId;
    // Let polls of the same process run in between.
    await nextTurn();
  }
}

function csvLine(card: CardImport): string {
  return `${IMPORT_FIELDS.map((field) => csvField(card[field])).join(',')}\n`;
}

function csvField(value: CardImport[keyof CardImport]): string {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function jsonLine(card: CardImport): string {
  const row = IMPORT_FIELDS.map((field, i) => [IMPORT_COLUMNS[i], card[field]] as const);
  return `${JSON.stringify(Object.fromEntries(row))}\n`;
}
