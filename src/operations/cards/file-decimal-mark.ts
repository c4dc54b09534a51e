// The decimal mark of a file of cards, as its own numbers prove it: 12.5 and 1,024.00 prove a point, 12,5 and 1.234.567 a comma.
// 1.024 is ambiguous, and can only be read in a file whose other numbers prove one mark and not both. Used by card-import.ts.
import { bothReadings, type DecimalMark, numberIn, readDecimal } from '../../domain/cards/decimal-text.ts';
import { CardpollError } from '../../platform/errors.ts';

/** Most numbers are plain digits and need no further check. */
const DIGITS = /^\d*$/;

interface Place {
  readonly text: string;
  readonly line: number;
}

export class FileDecimalMark {
  readonly #proofs = new Map<DecimalMark, Place>();
  /** The first ambiguous number. */
  #either: Place | null = null;

  /** @param column the column of all numbers. */
  constructor(private readonly column: string) {}

  /** null until a number has proved it. */
  get proved(): DecimalMark | null {
    return this.#proofs.keys().next().value ?? null;
  }

  /**
   * Examines a field of the file: call it for all numbers, in order.
   * @returns whether its number is ambiguous. @throws CardpollError `ambiguous_numbers` when the file has both marks.
   */
  isEither(field: unknown, line: number): boolean {
    if (typeof field !== 'string' || DIGITS.test(field)) return false;
    const read = readDecimal(field);
    const place = { text: field, line };
    if (read === 'either') this.#either ??= place;
    else if (read?.mark && !this.#proofs.has(read.mark)) this.#proofs.set(read.mark, place);
    if (this.#either !== null && this.#proofs.size > 1) throw this.refusal(line);
    return read === 'either';
  }

  /** The number of an ambiguous field. @throws before a mark is proved */
  numberOf(field: string): number {
    if (this.proved === null) throw new Error(`no decimal mark is proved for ${field}`);
    return numberIn(field, this.proved);
  }

  /** @param line the last line that was read. */
  refusal(line: number): CardpollError {
    const { text, line: first } = this.#either ?? { text: '', line };
    const proofs = [...this.#proofs.values()].map((proof) => `'${proof.text}' in line ${proof.line}`);
    const why =
      proofs.length === 0
        ? `no number up to line ${line} proves which`
        : `the file has ${proofs.join(' and ')}`;
    return new CardpollError(
      'bad_data',
      'ambiguous_numbers',
      `ambiguous_numbers: line ${first}: ${this.column} '${text}' is ${bothReadings(text)}, and ${why}`,
      {
        hint: 'Write numbers without a mark between thousands, and other than three decimals (1024, 1.0240, 1.02), or NDJSON with JSON numbers.',
      },
    );
  }
}
