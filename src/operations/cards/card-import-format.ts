// Parses the two file formats of a card import, line by line. Used by card-import.ts.
//
// No column can contain a line break, so a row is a line in CSV too. A stray quote then spoils only its own line; with
// a parser of whole files it would spoil everything up to the next quote.
import { parse } from 'csv-parse/sync';
import { CardpollError } from '../../platform/errors.ts';
import { jsonFault } from '../../platform/json-fault.ts';
import {
  IMPORT_COLUMNS,
  type ImportColumn,
  isImportColumn,
  quoted,
  type RawRow,
  REQUIRED_COLUMNS,
  RowProblem,
} from './card-import-row.ts';

export type ImportFormat = 'csv' | 'ndjson';

/**
 * @returns a reader for one file, to be called with each line in order. It returns null for a line that is not a row
 * (the header, an empty line). It throws RowProblem for a bad row and CardpollError `bad_data` to refuse the whole
 * file.
 */
export function rowReader(format: ImportFormat): (line: string) => RawRow | null {
  return format === 'csv' ? csvReader() : readJsonRow;
}

function csvReader(): (line: string) => RawRow | null {
  let columns: readonly ImportColumn[] | null = null;
  return (line) => {
    if (line.trim() === '') return null;
    if (columns === null) {
      columns = readHeader(line);
      return null;
    }
    const fields = splitFields(line);
    if (fields.length !== columns.length) {
      throw new RowProblem(`${fields.length} fields instead of ${columns.length}`);
    }
    const row: RawRow = {};
    for (const [i, column] of columns.entries()) row[column] = fields[i];
    return row;
  };
}

function readHeader(line: string): ImportColumn[] {
  const names = headerFields(line);
  const columns = names.filter(isImportColumn);
  const unknown = names.find((name) => !isImportColumn(name));
  if (unknown !== undefined) throw badHeader(`unknown column ${quoted(unknown)}`);
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw badHeader(`column '${twice}' appears twice`);
  const missing = REQUIRED_COLUMNS.find((name) => !columns.includes(name));
  if (missing !== undefined) throw badHeader(`column '${missing}' is missing`);
  return columns;
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
    hint: `The columns are ${IMPORT_COLUMNS.join(', ')}; ${REQUIRED_COLUMNS.join(' and ')} are required.`,
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

function readJsonRow(line: string): RawRow | null {
  if (line.trim() === '') return null;
  const row = parseJson(line);
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new RowProblem('not a JSON object');
  const unknown = Object.keys(row).find((name) => !isImportColumn(name));
  if (unknown !== undefined) throw new RowProblem(`unknown field ${quoted(unknown)}`);
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
