// Imports cards from a CSV or NDJSON stream: reads, checks and writes in chunks, in constant memory. Used by cards.ts for the
// admin API. Reads one chunk while it writes the previous one. A row whose number another card has is retried in a last chunk,
// since that card may give it up further on in the file.
//
// Columns and defaults are in card-file.ts. Bad rows are reported by line, and the good rows are kept. Importing the same file
// again changes nothing.
import type { Readable } from 'node:stream';
import {
  areDoubtful,
  type CardImport,
  DOUBTFUL_ICCIDS,
  NO_VENDOR_ID,
  RowProblem,
  TOO_MANY_OVER_PACKAGE,
} from '../../domain/cards/card.ts';
import type { TakenNumber } from '../../domain/cards/taken-numbers.ts';
import { CardCounts } from '../../domain/schedule/card-counts.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { grouped } from '../../domain/words.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { ImportChoices, ImportFormat, ImportReport } from '../../resources/cards.ts';
import type {
  CardRecords,
  ImportChunkOptions,
  ImportedChunk,
} from '../../store/ports/records/card-records.ts';
import { rowReader } from './card-file.ts';
import { FileDecimalMark } from './file-decimal-mark.ts';
import { type RowReader, toCardImport } from './import-columns.ts';
import { type ImportLine, readLines } from './import-lines.ts';
import { SeenNumbers } from './seen-numbers.ts';

export interface ImportOptions extends ImportChoices, Pick<ImportChunkOptions, 'month'> {
  readonly format: ImportFormat;
  /** The current configs, to report which cards they select. */
  readonly matcher: ConfigMatcher;
}

/** Writes the chunks. */
export type ChunkWriter = Pick<CardRecords, 'importChunk'>;

const CHUNK_ROWS = 10_000;
const MAX_ERRORS = 1_000;
const MAX_DOUBTFUL = 20;
/** Carriers named per task type, those with the most cards. */
const CARRIERS_NAMED = 10;

/**
 * @throws CardpollError `bad_data` for a file that is refused as a whole (wrong header, empty); the errors of the input
 * stream and of the store. Chunks that were already written stay.
 */
export async function importCards(
  cards: ChunkWriter,
  input: Readable,
  options: ImportOptions,
): Promise<ImportReport> {
  return new CardImporter(cards, options).read(input);
}

/** Most rows that wait for a number that proves the decimal mark. */
const MOST_WAITING = 100_000;

interface ImportRow {
  readonly row: CardImport;
  readonly line: number;
  /** Its ICCID equals that of an earlier row with or without the last digit. */
  readonly isTwin: boolean;
}

/** A row with an ambiguous allowance; its `row` has none. */
interface WaitingRow extends ImportRow {
  readonly allowance: string;
}

type DoubtfulCards = Pick<ImportedChunk, 'newIccids' | 'rounded' | 'twins' | 'conflicts'>;

const ROUNDED = 'ends in zeros: a spreadsheet may have rounded it';
const TWIN = 'is that of another card with or without its check digit';

class CardImporter {
  readonly #reader: RowReader;
  readonly #counts = {
    received: 0,
    inserted: 0,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    overPackage: 0,
    stoppedWithin: 0,
    newIccids: 0,
    roundedIccids: 0,
    twinIccids: 0,
  };
  /** Counts of the accepted cards. */
  readonly #cardCounts = new CardCounts();
  readonly #doubtful: ImportReport['doubtful'][number][] = [];
  readonly #errors: ImportReport['errors'][number][] = [];
  /** Rows of the current chunk with their line numbers, by card id: a chunk must not name a card twice. */
  #chunk = new Map<number, ImportRow>();
  /** Rows that wait until a number of the file proves its decimal mark, by card id. */
  #waiting = new Map<number, WaitingRow>();
  readonly #decimalMark = new FileDecimalMark('allowance_mb');
  readonly #cardIds = new SeenNumbers();
  readonly #iccids = new SeenNumbers();
  /** The same numbers without their last digit. */
  readonly #stems = new SeenNumbers();
  readonly #vendorIds = new SeenNumbers();
  readonly #ignored = new Set<string>();
  #anyLine = false;
  /** Rows whose number another card still has; at most one chunk. */
  readonly #taken: ImportRow[] = [];
  /** True if the last chunk contained only new cards. */
  #wasNew = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly cards: ChunkWriter,
    private readonly options: ImportOptions,
  ) {
    this.#reader = rowReader(options.format, options.ignoreColumns === true ? this.#ignored : null);
  }

  async read(input: Readable): Promise<ImportReport> {
    let last = 0;
    try {
      for await (const lines of readLines(input)) {
        for (const line of lines) {
          this.#take(line);
          if (this.#waiting.size > 0) await this.#readWaiting(line.number);
          if (this.#chunk.size >= CHUNK_ROWS) await this.#flush();
          last = line.number;
        }
      }
      this.#reader.end();
      if (this.#waiting.size > 0) throw this.#decimalMark.refusal(last);
      await this.#flush();
      await this.#writing;
      await this.#write(this.#taken.splice(0), 'last');
      return this.#report();
    } finally {
      // After an error of the input, the running write ends before the store is released.
      await this.#writing.catch(() => {});
    }
  }

  #take(line: ImportLine): void {
    try {
      const raw = this.#reader.read(line);
      this.#anyLine ||= line.text !== '';
      if (raw === null) return;
      const number = this.#reader.rowLine;
      const { allowance_mb: allowance } = raw;
      const isEither = this.#decimalMark.isEither(allowance, number);
      if (isEither) raw.allowance_mb = null;
      this.#add(toCardImport(raw), number, isEither ? String(allowance) : null);
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      this.#counts.received += 1;
      this.#reject(this.#reader.rowLine, error.message);
    }
  }

  /** Reads the waiting rows, if earlier lines prove their decimal mark. @throws CardpollError `ambiguous_numbers` for too many */
  async #readWaiting(line: number): Promise<void> {
    if (this.#decimalMark.proved === null) {
      if (this.#waiting.size >= MOST_WAITING) throw this.#decimalMark.refusal(line);
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [cardId, { allowance, row, ...place }] of waiting) {
      const allowanceMb = this.#decimalMark.numberOf(allowance);
      this.#chunk.set(cardId, { ...place, row: { ...row, allowanceMb } });
      if (this.#chunk.size >= CHUNK_ROWS) await this.#flush();
    }
  }

  /** Waits for the previous chunk, then starts to write this one. */
  async #flush(): Promise<void> {
    await this.#writing;
    const rows = [...this.#chunk.values()];
    this.#chunk = new Map();
    this.#writing = this.#write(rows);
    // The next flush awaits it; until then a failure must not count as unhandled.
    this.#writing.catch(() => {});
  }

  #report(): ImportReport {
    if (!this.#anyLine && this.#counts.received === 0) {
      throw new CardpollError('bad_data', 'empty_import', 'the import file is empty');
    }
    return {
      ...this.#counts,
      errors: this.#errors.toSorted((a, b) => a.line - b.line),
      errorsTruncated: this.#counts.rejected > this.#errors.length,
      ignoredColumns: [...this.#ignored],
      doubtful: this.#doubtful,
      unselected: TASK_TYPES.flatMap((taskType) =>
        this.#cardCounts
          .unselected(taskType, this.options.matcher)
          .slice(0, CARRIERS_NAMED)
          .map((found) => ({ taskType, ...found })),
      ),
    };
  }

  /** @param allowance of a waiting row; null: of any other row. */
  #add(row: CardImport, line: number, allowance: string | null): void {
    this.#counts.received += 1;
    // The first row counts, because it may be written before the second is read.
    const { cardId } = row;
    const isInHand = this.#chunk.has(cardId) || this.#waiting.has(cardId);
    const idTwice = this.#cardIds.add(String(cardId)) || isInHand;
    const stem = row.iccid.slice(0, -1);
    const isTwin = this.#iccids.has(stem) || this.#stems.has(row.iccid);
    this.#stems.add(stem);
    const iccidTwice = this.#iccids.add(row.iccid);
    if (idTwice) this.#reject(line, `card_id ${cardId} appears in an earlier line, too`);
    else if (iccidTwice) this.#reject(line, `iccid ${row.iccid} appears in an earlier line, too`);
    else if (row.vendorId !== null && row.vendorId !== NO_VENDOR_ID && this.#vendorIds.add(row.vendorId))
      this.#reject(line, `vendor_id ${row.vendorId} appears in an earlier line, too`);
    else if (allowance === null) this.#chunk.set(cardId, { row, line, isTwin });
    else this.#waiting.set(cardId, { row, line, isTwin, allowance });
  }

  async #write(rows: readonly ImportRow[], which?: 'last'): Promise<void> {
    if (rows.length === 0) return;
    const {
      dryRun,
      overwriteVerified,
      month,
      acceptOverPackage: most,
      refuseDoubtful = false,
    } = this.options;
    const cards = rows.map(({ row }) => row);
    const end = endOf(rows, which);
    if (refuseDoubtful)
      this.#refuseDoubtful(rows, await this.cards.importChunk(cards, { dryRun: true }), end);
    const result = await this.cards.importChunk(cards, {
      dryRun,
      overwriteVerified,
      month,
      mostOverPackage: most === undefined ? undefined : most - this.#counts.overPackage,
      expectNew: this.#wasNew,
    });
    this.#wasNew = result.inserted === rows.length;
    const conflicts = new Map(result.conflicts.map((conflict) => [conflict.cardId, conflict]));
    if (!refuseDoubtful) this.#noteDoubtful(rows, result);
    this.#counts.overPackage += result.overPackage;
    this.#counts.stoppedWithin += result.stoppedWithin;
    if (result.refused) throw tooManyOverPackage(end, this.#counts.overPackage, most ?? 0);
    this.#counts.inserted += result.inserted;
    this.#counts.updated += result.updated;
    this.#counts.unchanged += result.unchanged;
    for (const row of rows) {
      const { cardId, carrierId, realNameVerified } = row.row;
      const conflict = conflicts.get(cardId);
      if (conflict === undefined) {
        this.#cardCounts.add({ carrierId, realNameVerified: realNameVerified ?? false });
      } else if (which === 'last' || this.#taken.length >= CHUNK_ROWS) {
        this.#reject(row.line, belongsTo(conflict));
      } else this.#taken.push(row);
    }
  }

  /** @param found doubts about all rows except those whose number another card has: these are noted when they are retried. */
  #noteDoubtful(rows: readonly ImportRow[], found: DoubtfulCards): void {
    this.#counts.newIccids += found.newIccids;
    const ofCards = { rounded: new Set(found.rounded), twins: new Set(found.twins) };
    const leftOut = new Set(found.conflicts.map(({ cardId }) => cardId));
    for (const { row, line, isTwin } of rows) {
      if (leftOut.has(row.cardId)) continue;
      const isRounded = ofCards.rounded.has(row.cardId);
      const hasTwin = isTwin || ofCards.twins.has(row.cardId);
      if (isRounded) this.#counts.roundedIccids += 1;
      if (hasTwin) this.#counts.twinIccids += 1;
      if (!(isRounded || hasTwin) || this.#doubtful.length >= MAX_DOUBTFUL) continue;
      const why = isRounded ? ROUNDED : TWIN;
      this.#doubtful.push({ line, message: `iccid ${row.iccid} ${why}` });
    }
  }

  #refuseDoubtful(rows: readonly ImportRow[], found: DoubtfulCards, { place, kept }: ImportEnd): void {
    this.#noteDoubtful(rows, found);
    const [first] = this.#doubtful;
    if (first === undefined || !areDoubtful(this.#counts)) return;
    throw new CardpollError(
      'invalid',
      DOUBTFUL_ICCIDS,
      `the import ended ${place}: line ${first.line}: ${first.message}; ${kept} are kept`,
      {
        hint: 'A dry run counts them all; without refuse_doubtful they are imported.',
      },
    );
  }

  #reject(line: number, message: string): void {
    this.#counts.rejected += 1;
    if (this.#errors.length < MAX_ERRORS) this.#errors.push({ line, message });
  }
}

function belongsTo({ taken, value, holder }: TakenNumber): string {
  return `${taken} ${value} belongs to ${holder === null ? 'the card of an earlier line' : `card ${holder}`}`;
}

interface ImportEnd {
  readonly place: string;
  readonly kept: string;
}

function endOf([first]: readonly ImportRow[], which: 'last' | undefined): ImportEnd {
  return which === 'last'
    ? {
        place: `at line ${first?.line}, whose number another card had`,
        kept: 'the rows that wait for no number',
      }
    : { place: `before line ${first?.line}`, kept: 'the lines before' };
}

function tooManyOverPackage({ place, kept }: ImportEnd, cards: number, accepted: number): CardpollError {
  const many = grouped(cards);
  return new CardpollError(
    'invalid',
    TOO_MANY_OVER_PACKAGE,
    `the import ended ${place}: ${many} cards would be over their package in this month, and ${accepted} are accepted; ${kept} are kept`,
    {
      hint: 'A dry run counts them all; accept_over_package sets how many are accepted.',
      fields: [{ field: 'acceptOverPackage', message: `must be at least ${cards}` }],
    },
  );
}
