// Reads the rows of a file with one JSON object a line. Used by card-file.ts.
import { quoted, RowProblem } from '../../domain/cards/card.ts';
import { isObject, jsonFault, jsonIn } from '../../platform/json.ts';
import { ignore, isImportColumn, type RawRow, type RowReader } from './import-columns.ts';
import { type ImportLine, TOO_LONG } from './import-lines.ts';

export class NdjsonReader implements RowReader {
  rowLine = 0;

  /** @param ignored collects the names of unknown fields; null: they are refused. */
  constructor(private readonly ignored: Set<string> | null) {}

  read({ number, ...line }: ImportLine): RawRow | null {
    this.rowLine = number;
    if (line.text?.trim() === '') return null;
    if (line.text === null) throw new RowProblem(TOO_LONG);
    return readRow(line.text, this.ignored);
  }

  /** A row is a line. */
  end(): void {}
}

function readRow(line: string, ignored: Set<string> | null): RawRow {
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
