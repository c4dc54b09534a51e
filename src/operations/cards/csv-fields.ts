// Cuts a line of a CSV file into its fields, whatever a spreadsheet made of them. Used by card-file.ts.
//
// The header decides what separates the fields: commas, semicolons (spreadsheets in languages with a decimal comma) or tabs. A
// line `sep=;` before the header names it, too.
import { parse } from 'csv-parse/sync';
import { RowProblem } from '../../domain/cards/card.ts';

const SEPARATORS = [',', ';', '\t'] as const;
/** "sep=;" as spreadsheets write it, with or without quotes. */
const NAMED_SEPARATOR = /^"?sep=(.)"?$/i;
/** How a zip archive begins, which a workbook is, and a gzip file. */
const PACKED = ['PK\x03\x04', '\x1f'] as const;
/** ="8986..." keeps a spreadsheet from making a number of it. So does an apostrophe in front. */
const FORMULA = /^=\s*"([^"]*)"$/;

export class FieldSplitter {
  #separator: string = SEPARATORS[0];
  #isNamed = false;

  /** @returns the names of the columns; null for a line that only names the separator. @throws RowProblem */
  header(line: string): string[] | null {
    const [, named] = this.#isNamed ? [] : (NAMED_SEPARATOR.exec(line) ?? []);
    if (named !== undefined) {
      this.#separator = named;
      this.#isNamed = true;
      return null;
    }
    if (PACKED.some((mark) => line.startsWith(mark)))
      throw new RowProblem('it is a workbook (.xlsx, .ods) or packed; save it as CSV in UTF-8, or unpack it');
    if (line.includes('\0'))
      throw new RowProblem('it looks like UTF-16 without a byte order mark; save the file as UTF-8');
    if (!this.#isNamed) this.#separator = separatorOf(line);
    return this.fields(line);
  }

  /**
   * @returns the fields without surrounding blanks, quotes and the signs that make them text in a spreadsheet. Has a fast path
   * for lines without quotes inside fields. @throws RowProblem
   */
  fields(line: string): string[] {
    const fields = line.split(this.#separator);
    for (let i = 0; i < fields.length; i += 1) {
      const text = unquoted(asText((fields[i] as string).trim()));
      if (text.includes('"')) return this.#parse(line);
      fields[i] = text;
    }
    return fields;
  }

  #parse(line: string): string[] {
    try {
      const [fields = []] = parse(line, { trim: true, delimiter: this.#separator }) as string[][];
      return fields.map(asText);
    } catch {
      throw new RowProblem('the quotes do not match');
    }
  }
}

/** The one that cuts the header into most fields; names of columns contain none of them. */
function separatorOf(header: string): string {
  const [most] = [...SEPARATORS].sort((a, b) => header.split(b).length - header.split(a).length);
  return most ?? SEPARATORS[0];
}

function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1
    ? asText(text.slice(1, -1).trim())
    : text;
}

function asText(field: string): string {
  if (field.startsWith("'")) return field.slice(1);
  return field.startsWith('=') ? field.replace(FORMULA, '$1') : field;
}
