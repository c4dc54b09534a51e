// The first line of a CSV file: what columns it names, and what the file is if it is no CSV. Used by csv-reader.ts.
import { quoted } from '../../domain/cards/card.ts';
import { CardpollError } from '../../platform/errors.ts';
import {
  IMPORT_COLUMNS,
  type ImportColumn,
  ignore,
  isImportColumn,
  REQUIRED_COLUMNS,
} from './import-columns.ts';

/** How a zip archive begins, which a workbook is, and a gzip file. */
const PACKED = ['PK\x03\x04', '\x1f'] as const;

const COLUMNS_HINT = `The columns are ${IMPORT_COLUMNS.join(', ')}; ${REQUIRED_COLUMNS.join(' and ')} are required. --ignore-columns ignores all others.`;

/** @throws CardpollError for the header line of a file that is no CSV. */
export function checkIsCsv(line: string): void {
  if (PACKED.some((mark) => line.startsWith(mark)))
    throw badHeader('it is a workbook (.xlsx, .ods) or packed; save it as CSV in UTF-8, or unpack it');
  if (line.includes('\0'))
    throw badHeader('it looks like UTF-16 without a byte order mark; save the file as UTF-8');
}

/**
 * @param ignored collects the names of unknown columns; null: they are refused.
 * @returns the column of each field; null for one that is ignored. @throws CardpollError
 */
export function readHeader(
  names: readonly string[],
  ignored: Set<string> | null,
): Array<ImportColumn | null> {
  const columns = names.filter(isImportColumn);
  const unknown = names.filter((name) => !isImportColumn(name));
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  const missing = REQUIRED_COLUMNS.filter((name) => !columns.includes(name));
  const problems = [
    ...(ignored === null && unknown[0] !== undefined ? [`unknown column ${quoted(unknown[0])}`] : []),
    ...(twice === undefined ? [] : [`column '${twice}' appears twice`]),
    ...missing.map((name) => `column '${name}' is missing`),
  ];
  if (problems.length > 0) {
    throw badHeader(problems.join(', '));
  }
  ignore(unknown, ignored);
  return names.map((name) => (isImportColumn(name) ? name : null));
}

export function badHeader(problem: string): CardpollError {
  return new CardpollError('bad_data', 'bad_import_header', `the header line is wrong: ${problem}`, {
    hint: COLUMNS_HINT,
  });
}
