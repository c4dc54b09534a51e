// The file of a card import or export: the names of the columns, the two formats, the card that the fields of a row make, and the
// text that an export makes of cards. Used by card-import.ts and cards.ts. import-lines.ts cuts a file into lines,
// csv-fields.ts a line into fields.
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CARD_DEFAULTS,
  CARD_READERS,
  type CardImport,
  IMPORT_FIELDS,
  quoted,
  RowProblem,
} from '../../domain/cards/card.ts';
import type { CardFilter } from '../../domain/cards/card-filter.ts';
import { csvLine } from '../../domain/cards/csv-line.ts';
import { CardpollError } from '../../platform/errors.ts';
import { isObject, jsonFault, jsonIn } from '../../platform/json.ts';
import { snakeCase } from '../../platform/snake-keys.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import { FieldSplitter } from './csv-fields.ts';

export type ImportFormat = 'csv' | 'ndjson';

const MOST_IGNORED_NAMED = 100;

const DEFAULTS: Partial<CardImport> = CARD_DEFAULTS;

const COLUMNS = IMPORT_FIELDS.map((field) => ({
  field,
  column: snakeCase(field),
  read: CARD_READERS[field],
  /** undefined: a required column. */
  byDefault: DEFAULTS[field],
}));

type ImportColumn = (typeof COLUMNS)[number]['column'];
const IMPORT_COLUMNS = COLUMNS.map(({ column }) => column);
const REQUIRED_COLUMNS = COLUMNS.filter(({ byDefault }) => byDefault === undefined).map(
  ({ column }) => column,
);

/** The fields of one row as they are in the file: text from CSV, any JSON value from NDJSON. */
export type RawRow = Partial<Record<ImportColumn, unknown>>;

/**
 * @param ignored collects the names of unknown columns; null: they are refused
 * @returns a reader for one file, to be called with each line in order. It returns null for a line that is not a row
 * (the header, an empty line). It throws RowProblem for a bad row and CardpollError `bad_data` to refuse the whole
 * file.
 */
export function rowReader(
  format: ImportFormat,
  ignored: Set<string> | null,
): (line: string) => RawRow | null {
  return format === 'csv' ? csvReader(ignored) : (line) => readJsonRow(line, ignored);
}

/** @throws RowProblem for a field that is missing or wrong. */
export function toCardImport(raw: RawRow): CardImport {
  const card: Partial<Record<keyof CardImport, unknown>> = {};
  for (const { field, column, read, byDefault } of COLUMNS) {
    const value = raw[column];
    const isEmpty = value === undefined || value === null || value === '';
    if (isEmpty && byDefault === undefined) throw new RowProblem(`${column} is missing`);
    card[field] = isEmpty ? byDefault : read(value, column);
  }
  return card as CardImport;
}

function csvReader(ignored: Set<string> | null): (line: string) => RawRow | null {
  const splitter = new FieldSplitter();
  let columns: ReadonlyArray<ImportColumn | null> | null = null;
  return (line) => {
    if (line.trim() === '') return null;
    if (columns === null) {
      const names = inHeader(() => splitter.header(line));
      columns = names === null ? null : readHeader(names, ignored);
      return null;
    }
    const fields = splitter.fields(line);
    // A spreadsheet leaves such rows below its table.
    if (fields.every((field) => field === '')) return null;
    if (fields.length !== columns.length) {
      throw new RowProblem(`${fields.length} fields instead of ${columns.length}`);
    }
    const row: RawRow = {};
    for (let i = 0; i < columns.length; i += 1) {
      const column = columns[i] as ImportColumn | null;
      if (column !== null) row[column] = fields[i];
    }
    return row;
  };
}

/** @returns the column of each field; null for one that is ignored. */
function readHeader(names: readonly string[], ignored: Set<string> | null): Array<ImportColumn | null> {
  const columns = names.filter(isImportColumn);
  const unknown = names.filter((name) => !isImportColumn(name));
  if (ignored === null && unknown[0] !== undefined) throw badHeader(`unknown column ${quoted(unknown[0])}`);
  ignore(unknown, ignored);
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw badHeader(`column '${twice}' appears twice`);
  const missing = REQUIRED_COLUMNS.find((name) => !columns.includes(name));
  if (missing !== undefined) throw badHeader(`column '${missing}' is missing`);
  return names.map((name) => (isImportColumn(name) ? name : null));
}

function isImportColumn(name: string): name is ImportColumn {
  return COLUMNS.some(({ column }) => column === name);
}

function ignore(names: readonly string[], ignored: Set<string> | null): void {
  for (const name of names)
    if (ignored !== null && ignored.size < MOST_IGNORED_NAMED) ignored.add(quoted(name));
}

function inHeader<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof RowProblem ? badHeader(error.message) : error;
  }
}

function badHeader(problem: string): CardpollError {
  return new CardpollError('bad_data', 'bad_import_header', `the header line is wrong: ${problem}`, {
    hint: `The columns are ${IMPORT_COLUMNS.join(', ')}; ${REQUIRED_COLUMNS.join(' and ')} are required. --ignore-columns ignores all others.`,
  });
}

function readJsonRow(line: string, ignored: Set<string> | null): RawRow | null {
  if (line.trim() === '') return null;
  const row = jsonIn(line);
  if (row === undefined) throw new RowProblem('not valid JSON');
  if (!isObject(row)) throw new RowProblem('not a JSON object');
  const unknown = Object.keys(row).filter((name) => !isImportColumn(name));
  if (ignored === null && unknown[0] !== undefined) {
    throw new RowProblem(`unknown field ${quoted(unknown[0])} (--ignore-columns ignores it)`);
  }
  ignore(unknown, ignored);
  // Only a line with more names than fields can repeat a name.
  const fault = (line.match(/"\s*:/g)?.length ?? 0) > Object.keys(row).length ? jsonFault(line) : null;
  if (fault !== null) throw new RowProblem(`the row ${fault.detail}`);
  return row;
}

const STRETCH = 1_000;

/**
 * Exports the cards that match a filter as text: CSV with the columns of an import, or one JSON object a line. Reads the next
 * cards only when the reader wants more, so memory does not depend on their number. Cards that change meanwhile appear as they
 * are when they are read. @throws the store's errors, even after the first lines.
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
    // Let polls of the same process run in between.
    await nextTurn();
  }
}

export function jsonLine(card: CardImport): string {
  const row = IMPORT_FIELDS.map((field, i) => [IMPORT_COLUMNS[i], card[field]] as const);
  return `${JSON.stringify(Object.fromEntries(row))}\n`;
}
