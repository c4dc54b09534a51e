// Splits the lines of a CSV file into fields, in all variants that spreadsheets write. Used by csv-reader.ts. A library would
// need the whole row before it could report that a quoted field continues in the next line.
//
// The separator follows from the header: commas, semicolons (spreadsheets in languages with a decimal comma) or tabs. A line
// `sep=;` before the header also names it.
import { RowProblem } from '../../domain/cards/card.ts';
import { LONGEST_LINE, TOO_LONG } from './import-lines.ts';

const SEPARATORS = [',', ';', '\t'] as const;
/** "sep=;" as spreadsheets write it, with or without quotes. */
const NAMED_SEPARATOR = /^"?sep=(.)"?$/i;
/** ="8986..." keeps a spreadsheet from converting it to a number. So does a leading apostrophe. */
const FORMULA = /^=\s*"([^"]*)"$/;
const IN_QUOTES = /"[^"]*("|$)/g;

/** A quote in a wrong place. */
export class QuoteProblem extends RowProblem {
  /** @param isUncertain this row or an earlier one may have been split within a field. */
  constructor(readonly isUncertain: boolean) {
    super('the quotes do not match');
  }
}

export class FieldSplitter {
  #separator: string = SEPARATORS[0];
  #isNamed = false;
  /** The fields so far of a row that continues in the next line. */
  #fields: string[] = [];
  /** The lines so far of its last field, which is in quotes; null: no row continues. */
  #open: string[] | null = null;
  #length = 0;
  #anyInQuotes = false;

  /** Whether the last line ended within quotes: the next one belongs to the same row. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** @param line the header, or one before it @returns whether it only names the separator. */
  findSeparator(line: string): boolean {
    if (this.#isNamed) return false;
    const [, named] = NAMED_SEPARATOR.exec(line) ?? [];
    this.#isNamed = named !== undefined;
    this.#separator = named ?? separatorOf(line);
    return this.#isNamed;
  }

  /**
   * @returns the fields of the row that ends with this line, without surrounding blanks, quotes and the signs that mark text in a
   * spreadsheet; null: the row continues. @throws RowProblem
   */
  fields(line: string): string[] | null {
    if (this.#open !== null || line.includes('"')) return this.#scan(line);
    const fields = line.split(this.#separator);
    for (let i = 0; i < fields.length; i += 1) fields[i] = asText((fields[i] as string).trim());
    return fields;
  }

  /** Drops the text of the current row, which is too long to be one; its end is still searched. */
  dropRow(): void {
    this.#length = LONGEST_LINE + 1;
  }

  #scan(line: string): string[] | null {
    this.#length += line.length;
    try {
      if (this.#continues(line)) return null;
      if (this.#length > LONGEST_LINE) throw new RowProblem(TOO_LONG);
      return this.#fields;
    } finally {
      if (this.#open === null) [this.#fields, this.#length] = [[], 0];
      else if (this.#length > LONGEST_LINE) [this.#fields, this.#open] = [[], []];
    }
  }

  /** Reads the fields of a line. @returns whether the last one continues in the next line. */
  #continues(line: string): boolean {
    let at = this.#open === null ? 0 : this.#takeInQuotes(line, 0);
    while (at <= line.length) {
      const start = this.#beginOfText(line, at);
      at = line[start] === '"' ? this.#takeInQuotes(line, start + 1) : this.#takePlain(line, at);
    }
    return this.#open !== null;
  }

  /** @returns the position of the next field. */
  #takePlain(line: string, at: number): number {
    const end = this.#endOfField(line, at);
    const text = asText(line.slice(at, end).trim());
    if (text.includes('"')) throw new QuoteProblem(this.#anyInQuotes);
    this.#fields.push(text);
    return end + 1;
  }

  /** @param at after the opening quote, or where a field continues @returns the position of the next field. */
  #takeInQuotes(line: string, at: number): number {
    const quote = closingQuote(line, at);
    this.#anyInQuotes = true;
    this.#open ??= [];
    this.#open.push(line.slice(at, quote === -1 ? line.length : quote));
    if (quote === -1) return line.length + 1;
    const end = this.#endOfField(line, quote);
    if (line.slice(quote + 1, end).trim() !== '') throw new QuoteProblem(true);
    this.#fields.push(asText(this.#open.join('\n').replaceAll('""', '"').trim()));
    this.#open = null;
    return end + 1;
  }

  #endOfField(line: string, at: number): number {
    const end = line.indexOf(this.#separator, at);
    return end === -1 ? line.length : end;
  }

  #beginOfText(line: string, at: number): number {
    let start = at;
    while (start < line.length && line[start] !== this.#separator && line.charAt(start).trim() === '')
      start += 1;
    return start;
  }
}

/** @returns the first quote from there on that is not doubled; -1: none. */
function closingQuote(line: string, from: number): number {
  let at = line.indexOf('"', from);
  while (at !== -1 && line[at + 1] === '"') at = line.indexOf('"', at + 2);
  return at;
}

/** The separator that splits the header into the most fields; names of columns contain none, except in quotes. */
export function separatorOf(header: string): string {
  const plain = header.replace(IN_QUOTES, '');
  const [most] = [...SEPARATORS].sort((a, b) => plain.split(b).length - plain.split(a).length);
  return most ?? SEPARATORS[0];
}

function asText(field: string): string {
  if (field.startsWith("'")) return field.slice(1);
  return field.startsWith('=') ? field.replace(FORMULA, '$1') : field;
}
