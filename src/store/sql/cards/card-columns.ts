// The columns that an import sets, but real_name_verified, which has a rule of its own: in a .sql file {*} is a list of them,
// and {c.*} one of those of c. Unlike c.* they are the columns that this version knows, so a migration that adds one does
// not change a statement of the version before.
import { type CardAttributes, type CardImport, IMPORT_FIELDS } from '../../../domain/cards/card-import.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';

export const ATTRIBUTES = IMPORT_FIELDS.filter(
  (field): field is keyof CardAttributes => field !== 'realNameVerified',
);

export function withColumns(file: string): string {
  return file.replaceAll(/\{(\w+\.)?\*\}/g, (_, table = '') =>
    ATTRIBUTES.map((field) => `${table}${snakeCase(field)}`).join(', '),
  );
}

/** @param record a row of the table, or more, by its columns */
export function toImport(record: Readonly<Record<string, unknown>>): CardImport {
  return Object.fromEntries(
    IMPORT_FIELDS.map((field) => [field, record[snakeCase(field)]]),
  ) as unknown as CardImport;
}
