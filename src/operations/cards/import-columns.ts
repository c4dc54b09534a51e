// The columns of a card import and export, and the conversion of a row's fields to a card. Used by the readers of both formats,
// and by card-file.ts.
import {
  CARD_DEFAULTS,
  CARD_READERS,
  type CardImport,
  IMPORT_FIELDS,
  quoted,
  RowProblem,
} from '../../domain/cards/card.ts';
import { snakeCase } from '../../platform/snake-keys.ts';
import type { ImportLine } from './import-lines.ts';

const MOST_IGNORED_NAMED = 100;

const DEFAULTS: Partial<CardImport> = CARD_DEFAULTS;

const COLUMNS = IMPORT_FIELDS.map((field) => ({
  field,
  column: snakeCase(field),
  read: CARD_READERS[field],
  /** undefined: a required column. */
  byDefault: DEFAULTS[field],
}));

export type ImportColumn = (typeof COLUMNS)[number]['column'];
export const IMPORT_COLUMNS = COLUMNS.map(({ column }) => column);
export const REQUIRED_COLUMNS = COLUMNS.filter(({ byDefault }) => byDefault === undefined).map(
  ({ column }) => column,
);

/** The raw fields of one row: text from CSV, any JSON value from NDJSON. */
export type RawRow = Partial<Record<ImportColumn, unknown>>;

/** Reads the rows of one file. */
export interface RowReader {
  /**
   * Takes each line in order. @returns the row that ends with it; null when none does (a header, an empty line, a row that
   * continues). @throws RowProblem for a bad row, and CardpollError `bad_data` to refuse the whole file.
   */
  read(line: ImportLine): RawRow | null;
  /** The line in which the row of the last line begins. */
  readonly rowLine: number;
  /** Call after the last line. @throws CardpollError `bad_data` for an unfinished row. */
  end(): void;
}

export function isImportColumn(name: string): name is ImportColumn {
  return COLUMNS.some(({ column }) => column === name);
}

/** @param ignored collects the names; the first hundred are enough. */
export function ignore(names: readonly string[], ignored: Set<string> | null): void {
  for (const name of names)
    if (ignored !== null && ignored.size < MOST_IGNORED_NAMED) ignored.add(quoted(name));
}

/** @throws RowProblem for a missing or wrong field. */
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
