// Reads the first line of a CSV file: its columns, or the real format if the file is not CSV. Used by csv-reader.ts.
import { quoted } from '../../domain/cards/card.ts';
import { CardpollError } from '../../platform/errors.ts';
import {
  IMPORT_COLUMNS,
  type ImportColumn,
  ignore,
  isImportColumn,
  REQUIRED_COLUMNS,
} from './import-columns.ts';
import { CR_HINT } from './import-lines.ts';
import { isJsonList, JSON_HINT } from './ndjson-reader.ts';

/** First bytes of a zip archive, which a workbook is, and of a gzip file. */
const PACKED = ['PK\x03\x04', '\x1f'] as const;
const IN_QUOTES = /"[^"]*("|$)/g;
const MOST_NAMES_SHOWN = 5;

const COLUMNS_HINT = `The columns are ${IMPORT_COLUMNS.join(', ')}; ${REQUIRED_COLUMNS.join(' and ')} are required. You choose the card_id, a number for each card. --ignore-columns ignores all others.`;

/** @throws CardpollError for the header line of a file that is not CSV. */
export function checkIsCsv(line: string): void {
  if (PACKED.some((mark) => line.startsWith(mark)))
    throw badHeader('it is a workbook (.xlsx, .ods) or packed; save it as CSV in UTF-8, or unpack it');
  if (line.includes('\0'))
    throw badHeader('it looks like UTF-16 without a byte order mark; save the file as UTF-8');
  if (isJsonList(line)) throw badHeader('it begins a JSON array', JSON_HINT);
  if (line.replace(IN_QUOTES, '').trimEnd().includes('\r'))
    throw badHeader('the lines of the file end in CR alone, so all are one', CR_HINT);
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
    ...missing.map((name) => `column '${name}' is missing${likely(name, unknown)}`),
  ];
  if (problems.length > 0) {
    const shown = missing.length > 0 ? ` (it has ${listed(names)})` : '';
    throw badHeader(`${problems.join(', ')}${shown}`);
  }
  ignore(unknown, ignored);
  return names.map((name) => (isImportColumn(name) ? name : null));
}

/** Suggests the column that may be meant: `ICCID` or `SIM ICCID` for iccid, `Card ID` for card_id. */
function likely(column: string, unknown: readonly string[]): string {
  const name = unknown.find((one) => lettersOf(one).includes(lettersOf(column)));
  return name === undefined ? '' : `, but there is ${quoted(name)}: name it ${column}`;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES_SHOWN).map(quoted).join(', ');
  return names.length > MOST_NAMES_SHOWN ? `${shown} and ${names.length - MOST_NAMES_SHOWN} more` : shown;
}

export function badHeader(problem: string, hint = COLUMNS_HINT): CardpollError {
  return new CardpollError('bad_data', 'bad_import_header', `the header line is wrong: ${problem}`, { hint });
}
