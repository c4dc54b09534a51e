// One row of a card import or export: the names of its columns, and the card that its fields make.
import {
  CARD_DEFAULTS,
  CARD_READERS,
  type CardImport,
  IMPORT_FIELDS,
  RowProblem,
} from '../../domain/cards/card-import.ts';
import { snakeCase } from '../../platform/snake-keys.ts';

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

export function isImportColumn(name: string): name is ImportColumn {
  return COLUMNS.some(({ column }) => column === name);
}

/** The fields of one row as they are in the file: text from CSV, any JSON value from NDJSON. */
export type RawRow = Partial<Record<ImportColumn, unknown>>;

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
