// The rows of a card import or export: the names of the columns, the two file formats, which are parsed line by line, and
// the card that the fields of a row make. Used by card-import.ts and card-export.ts.
//
// No column can contain a line break, so a row is a line in CSV too. A stray quote then spoils only its own line; with
// a parser of whole files it would spoil everything up to the next quote.
import { parse } from 'csv-parse/sync';
import {
  CARD_DEFAULTS,
  CARD_READERS,
  type CardImport,
  IMPORT_FIELDS,
  quoted,
  RowProblem,
} from '../../domain/cards/card-import.ts';
import { CardpollError } from '../../platform/errors.ts';
import { jsonFault } from '../../platform/json-fault.ts';
import { snakeCase } from '../../platform/snake-keys.ts';

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
export const IMPORT_COLUMNS = COLUMNS.map(({ column }) => column);
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
  let columns: ReadonlyArray<ImportColumn | null> | null = null;
  return (line) => {
    if (line.trim() === '') return null;
    if (columns === null) {
      columns = readHeader(line, ignored);
      return null;
    }
    const fields = splitFields(line);
    if (fields.length !== columns.length) {
      throw new RowProblem(`${fields.length} fields instead of ${columns.length}`);
    }
    const row: RawRow = {};
    for (const [i, column] of columns.entries()) if (column !== null) row[column] = fields[i];
    return row;
  };
}

/** @returns the column of each field; null for one that is ignored. */
function readHeader(line: string, ignored: Set<string> | null): Array<ImportColumn | null> {
  const names = headerFields(line);
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

function headerFields(line: string): string[] {
  try {
    return splitFields(line);
  } catch (error) {
    throw error instanceof RowProblem ? badHeader(error.message) : error;
  }
}

function badHeader(problem: string): CardpollError {
  return new CardpollError('bad_data', 'bad_import_header', `the header line is wrong: ${problem}`, {
    hint: `The columns are ${IMPORT_COLUMNS.join(', ')}; ${REQUIRED_COLUMNS.join(' and ')} are required. --ignore-columns ignores all others.`,
  });
}

/**
 * @returns the fields without surrounding blanks and quotes. Has a fast path for lines without quotes inside fields.
 */
function splitFields(line: string): string[] {
  const fields = line.split(',');
  for (const [i, field] of fields.entries()) {
    const text = field.trim();
    const plain =
      text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1).trim() : text;
    if (plain.includes('"')) return parseFields(line);
    fields[i] = plain;
  }
  return fields;
}

function parseFields(line: string): string[] {
  try {
    const [fields = []] = parse(line, { trim: true }) as string[][];
    return fields;
  } catch {
    throw new RowProblem('the quotes do not match');
  }
}

function readJsonRow(line: string, ignored: Set<string> | null): RawRow | null {
  if (line.trim() === '') return null;
  const row = parseJson(line);
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new RowProblem('not a JSON object');
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

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new RowProblem('not valid JSON');
  }
}
