// The columns of a card, as lists in the statements of this folder: {*} has all of them, {import} the columns of an import's row
// in its order, {attributes} the subset that it sets as given; vendor_id and real_name_verified have special rules. {c.*} and
// {c.attributes} are the same with the prefix c. Unlike c.* they are the columns that this version knows, so a migration that
// adds one does not change a statement of the previous version. {filter from $4} is the condition of a list, whose parameters
// begin there.
import { type CardImport, IMPORT_FIELDS, STATE_FIELDS } from '../../../domain/cards/card.ts';
import { FILTER_FIELDS } from '../../../domain/cards/card-filter.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';

const OF_A_RULE: ReadonlyArray<keyof CardImport> = ['vendorId', 'realNameVerified'];

const LISTS: Readonly<Record<string, readonly string[]>> = {
  import: IMPORT_FIELDS.map(snakeCase),
  attributes: IMPORT_FIELDS.filter((field) => !OF_A_RULE.includes(field)).map(snakeCase),
  '*': [...new Set([...IMPORT_FIELDS, ...STATE_FIELDS])].map(snakeCase),
};

export function withColumns(file: string): string {
  return file
    .replaceAll(/\{(\w+\.)?(\*|attributes|import)\}/g, (_, table = '', list = '*') =>
      (LISTS[list] ?? []).map((column) => `${table}${column}`).join(', '),
    )
    .replaceAll(/\{filter from \$(\d+)\}/g, (_, first: string) => filterFrom(Number(first)));
}

const SQL_TYPES = { id: 'integer', yesNo: 'boolean', text: 'text' } as const;

function filterFrom(first: number): string {
  const conditions = FILTER_FIELDS.map(([field, { value }], at) => {
    const parameter = `$${first + at}::${SQL_TYPES[value]}`;
    return `(${parameter} IS NULL OR ${snakeCase(field)} = ${parameter})`;
  });
  return conditions.join(' AND ');
}

/** @param record a row of the table, with at least its columns */
export function toImport(record: Readonly<Record<string, unknown>>): CardImport {
  return Object.fromEntries(
    IMPORT_FIELDS.map((field) => [field, record[snakeCase(field)]]),
  ) as unknown as CardImport;
}
