// Reads the rows of a file with one JSON object per line. Used by card-file.ts.
import { quoted, RowProblem } from '../../domain/cards/card.ts';
import { CardpollError } from '../../platform/errors.ts';
import { isObject, jsonFault, jsonIn } from '../../platform/json.ts';
import { ignore, isImportColumn, type RawRow, type RowReader } from './import-columns.ts';
import { CR_HINT, type ImportLine, TOO_LONG } from './import-lines.ts';

export const JSON_HINT = "Write one JSON object a line, without the array: jq -c '.[]' FILE > cards.ndjson";

/** Not `[card_id],[iccid]`, as some databases write a header. */
const JSON_LIST = /^\s*\[\s*($|[[{"\d\]])/;

/** Whether a JSON array begins with this line. */
export function isJsonList(line: string): boolean {
  return JSON_LIST.test(line);
}

export class NdjsonReader implements RowReader {
  rowLine = 0;
  #isBegun = false;

  /** @param ignored collects the names of unknown fields; null: they are refused. */
  constructor(private readonly ignored: Set<string> | null) {}

  read({ number, ...line }: ImportLine): RawRow | null {
    this.rowLine = number;
    if (line.text?.trim() === '') return null;
    if (!this.#isBegun) checkIsNdjson(line.text ?? line.start);
    this.#isBegun = true;
    if (line.text === null) throw new RowProblem(TOO_LONG);
    return readRow(line.text, this.ignored);
  }

  /** A row is a line. */
  end(): void {}
}

/** Other forms that the first non-empty line may show, with the problem and the hint: rows are not one per line. */
const OTHER_FORMS: ReadonlyArray<readonly [form: RegExp, problem: string, hint: string]> = [
  [JSON_LIST, 'it begins a JSON array', JSON_HINT],
  [/\}\s*\r\s*\{/, 'the lines of the file end in CR alone, so all are one', CR_HINT],
  [
    /^\s*\{(.*([{[]|[^}],))?\s*$/,
    'its JSON object goes on in further lines',
    'Write one JSON object a line: jq -c . FILE > cards.ndjson',
  ],
];

function checkIsNdjson(line: string): void {
  const form = OTHER_FORMS.find(([one]) => one.test(line));
  if (form === undefined) return;
  const [, problem, hint] = form;
  throw new CardpollError('bad_data', 'bad_import_json', `the first line is wrong: ${problem}`, { hint });
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
