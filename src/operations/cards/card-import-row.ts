// One row of a card import: the columns, their defaults and bounds. Used by card-import.ts. The checks are written by
// hand, without a schema, because an import has millions of rows and the checks are most of its work.
//
// A row replaces the whole card: an absent or empty carrier_id means 0, status 1, allowance_mb unlimited. The exception
// is real_name_verified, which polling finds out: absent or empty keeps the known value, and false does, too, unless the
// import overwrites it.
import { type CardImport, ICCID, IMPORT_FIELDS } from '../../domain/cards/card.ts';
import { snakeCase } from '../../platform/snake-keys.ts';

export const IMPORT_COLUMNS = IMPORT_FIELDS.map(snakeCase);
export type ImportColumn = (typeof IMPORT_COLUMNS)[number];

export const REQUIRED_COLUMNS: readonly ImportColumn[] = ['card_id', 'iccid'];

const DEFAULT_CARRIER_ID = 0;
const DEFAULT_STATUS = 1;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

const INTEGER = /^[+-]?\d{1,16}$/;
const NUMBER = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;
const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
]);

export function isImportColumn(name: string): name is ImportColumn {
  return (IMPORT_COLUMNS as readonly string[]).includes(name);
}

/** The fields of one row as they are in the file: text from CSV, any JSON value from NDJSON. */
export type RawRow = Partial<Record<ImportColumn, unknown>>;

/** A problem of one row, in words for its author. */
export class RowProblem extends Error {}

/** @throws RowProblem for a field that is missing or wrong. */
export function toCardImport(raw: RawRow): CardImport {
  return {
    cardId: integer('card_id', raw.card_id, 1, Number.MAX_SAFE_INTEGER),
    iccid: iccid(raw.iccid),
    carrierId: isEmpty(raw.carrier_id)
      ? DEFAULT_CARRIER_ID
      : integer('carrier_id', raw.carrier_id, INT32_MIN, INT32_MAX),
    status: isEmpty(raw.status) ? DEFAULT_STATUS : integer('status', raw.status, INT32_MIN, INT32_MAX),
    allowanceMb: isEmpty(raw.allowance_mb) ? null : megabytes('allowance_mb', raw.allowance_mb),
    realNameVerified: isEmpty(raw.real_name_verified)
      ? null
      : boolean('real_name_verified', raw.real_name_verified),
  };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function integer(column: ImportColumn, value: unknown, min: number, max: number): number {
  const number = typeof value === 'string' && INTEGER.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
  if (isEmpty(value)) throw new RowProblem(`${column} is missing`);
  throw new RowProblem(`${column} ${show(value)} is not an integer from ${min} to ${max}`);
}

function iccid(value: unknown): string {
  if (typeof value === 'string' && ICCID.test(value)) return value;
  if (isEmpty(value)) throw new RowProblem('iccid is missing');
  if (typeof value === 'number')
    throw new RowProblem('iccid must be a string: a JSON number loses its last digits');
  const padded = /^\d{18,22}F+$/i.test(String(value)) ? ': leave out the F at its end' : '';
  throw new RowProblem(`iccid ${show(value)} is not 18 to 22 digits${padded}`);
}

function megabytes(column: ImportColumn, value: unknown): number {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
  throw new RowProblem(`${column} ${show(value)} is not a number of megabytes (0 or more)`);
}

function boolean(column: ImportColumn, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const known = typeof value === 'object' ? undefined : BOOLEANS.get(String(value).toLowerCase());
  if (known !== undefined) return known;
  throw new RowProblem(`${column} ${show(value)} is not true, false, yes, no, 1 or 0`);
}

/** Shows a value in an error. Nested values are not written out, because they may be very deep. */
function show(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? '[...]' : '{...}';
  return quoted(String(value));
}

/** The beginning of a text of the file, without control characters that could affect a terminal. */
export function quoted(text: string): string {
  const start = text.slice(0, 40).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
  return `'${start}${text.length > 40 ? '...' : ''}'`;
}
