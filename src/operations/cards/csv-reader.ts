// Reads the rows of a CSV file. A line break in quotes belongs to its field, so a row may have several lines. Used by
// card-file.ts.
import { RowProblem } from '../../domain/cards/card.ts';
import { grouped } from '../../domain/words.ts';
import { CardpollError } from '../../platform/errors.ts';
import { FieldSplitter, QuoteProblem, separatorOf } from './csv-fields.ts';
import { badHeader, checkIsCsv, readHeader } from './csv-header.ts';
import type { ImportColumn, RawRow, RowReader } from './import-columns.ts';
import { HAS_CR, type ImportLine, type LongLine, TOO_LONG } from './import-lines.ts';

export class CsvReader implements RowReader {
  readonly #splitter = new FieldSplitter();
  /** The column of each field; null for an ignored one. */
  #columns: ReadonlyArray<ImportColumn | null> | null = null;
  #line = 0;
  rowLine = 0;

  /** @param ignored collects the names of unknown columns; null: they are refused. */
  constructor(private readonly ignored: Set<string> | null) {}

  read(line: ImportLine): RawRow | null {
    this.#line = line.number;
    if (!this.#splitter.isOpen) this.rowLine = line.number;
    try {
      const fields = line.text === null ? this.#passLong(line) : this.#fieldsOf(line.text);
      if (fields === null) return null;
      if (this.#columns !== null) return rowOf(fields, this.#columns);
      this.#columns = readHeader(fields, this.ignored);
      return null;
    } catch (error) {
      if (error instanceof QuoteProblem && error.isUncertain) throw this.#refusal(error.message);
      throw this.#columns === null && error instanceof RowProblem ? badHeader(error.message) : error;
    }
  }

  end(): void {
    if (this.#splitter.isOpen) throw this.#refusal('a field begins with a quote and has no other at its end');
  }

  #fieldsOf(text: string): string[] | null {
    if (!this.#splitter.isOpen) {
      if (text.trim() === '') return null;
      if (this.#columns === null) {
        checkIsCsv(text);
        if (this.#splitter.findSeparator(text)) return null;
      }
    }
    return this.#splitter.fields(text);
  }

  #passLong({ start, hasQuotes }: LongLine): null {
    if (this.#columns === null && !this.#splitter.isOpen) {
      checkIsCsv(start);
      const columns = start.split(separatorOf(start)).length;
      throw badHeader(
        `it is ${TOO_LONG}, with ${grouped(columns)} columns or more`,
        'Keep only the columns of an import, as in: cut -d, -f1-7 FILE > cards.csv',
      );
    }
    if (hasQuotes) throw this.#refusal(`${TOO_LONG}, and there are quotes in it`);
    if (!this.#splitter.isOpen)
      throw new RowProblem(start.includes('\r') ? `${TOO_LONG}: ${HAS_CR}` : TOO_LONG);
    this.#splitter.dropRow();
    return null;
  }

  #refusal(problem: string): CardpollError {
    const lines =
      this.rowLine === this.#line ? `line ${this.#line}` : `lines ${this.rowLine} to ${this.#line}`;
    return new CardpollError(
      'bad_data',
      'bad_import_quotes',
      `${lines}: ${problem}: where rows end is not certain`,
      {
        hint: 'A quote in a field in quotes is written twice (""). Correct this row, and import the file again.',
      },
    );
  }
}

/** @returns null for a row without any value, which spreadsheets write below a table. */
function rowOf(fields: readonly string[], columns: ReadonlyArray<ImportColumn | null>): RawRow | null {
  if (fields.every((field) => field === '')) return null;
  if (fields.length !== columns.length) {
    const problem = `${fields.length} fields instead of ${columns.length}`;
    throw new RowProblem(fields.some((field) => field.includes('\r')) ? `${problem}: ${HAS_CR}` : problem);
  }
  const row: RawRow = {};
  for (let i = 0; i < columns.length; i += 1) {
    const column = columns[i] as ImportColumn | null;
    if (column !== null) row[column] = fields[i];
  }
  return row;
}
