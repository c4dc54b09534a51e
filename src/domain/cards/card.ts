// A SIM card: the attributes that an import sets, and the state that polls and operators keep current. THE declaration of an
// import's columns, their defaults and bounds, from which the columns of files and exports (operations/cards/card-file.ts) and of
// the statements (store/sql/cards/card-columns.ts) follow. The checks are written by hand, without a schema, because an import
// has millions of rows and the checks are most of its work.
import { withoutSteering } from '../plain-text.ts';
import { bothReadings, readDecimal } from './decimal-text.ts';
import type { UsageMonth } from './usage-month.ts';

/** Attributes that only an import changes. */
export interface CardAttributes {
  readonly cardId: number;
  /** 18 to 22 digits. */
  readonly iccid: string;
  readonly carrierId: number;
  /** The fleet's own status number; selects cards in by-condition triggers (operations interface, section 2.8). */
  readonly status: number;
  /** Package allowance per calendar month in MB; null means unlimited. */
  readonly allowanceMb: number | null;
  /** The vendor's id of the SIM, if it does not use the ICCID; 1 to 64 printable characters; null: unknown. */
  readonly vendorId: string | null;
}

/** The results of polls, except the usage. */
export interface CardState {
  readonly realNameVerified: boolean;
  /** True while the card is stopped, by cardpoll or as the gateway reports. */
  readonly stopped: boolean;
}

const STATE: Readonly<Record<keyof CardState, true>> = { realNameVerified: true, stopped: true };
export const STATE_FIELDS = Object.keys(STATE) as ReadonlyArray<keyof CardState>;

export interface Card extends CardAttributes, CardState {
  /** The newest month with a reading; null before the first one. */
  readonly usage: UsageMonth | null;
}

/**
 * A card as calls of the gateway name it. The row that grants a call with an effect, or that accepts a status from the gateway,
 * must have the same values.
 */
export type NamedCard = Pick<CardAttributes, 'cardId' | 'iccid' | 'vendorId'>;

/** The attributes that decide which rings a card belongs to. */
export type CardMembership = Pick<Card, 'cardId' | 'carrierId' | 'realNameVerified'>;

/** One row of an import file. It replaces the whole card. */
export interface CardImport extends CardAttributes {
  /** null keeps the stored one, unless the card gets another ICCID: it belongs to the SIM. NO_VENDOR_ID removes it. */
  readonly vendorId: string | null;
  /**
   * null keeps the stored value (false for a new card), since polling finds it out. After such a poll any value keeps it, too.
   */
  readonly realNameVerified: boolean | null;
}

/** Values of absent or empty fields; the other fields are required. */
export const CARD_DEFAULTS: Omit<CardImport, 'cardId' | 'iccid'> = {
  carrierId: 0,
  status: 1,
  allowanceMb: null,
  vendorId: null,
  realNameVerified: null,
};

/** Reads text from CSV, or any JSON value from NDJSON. @throws RowProblem */
type Reader<T> = (value: unknown, column: string) => T;

const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const;
export const ICCID = /^\d{18,22}$/;
const INTEGER = /^[+-]?\d{1,16}$/;
const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
]);

/** In the order of an export (contract, "Import columns"). */
export const CARD_READERS: { readonly [Field in keyof CardImport]: Reader<CardImport[Field]> } = {
  cardId: integer(1, Number.MAX_SAFE_INTEGER),
  iccid,
  carrierId: integer(...INT32),
  status: integer(...INT32),
  allowanceMb: megabytes,
  vendorId,
  realNameVerified: boolean,
};
export const IMPORT_FIELDS = Object.keys(CARD_READERS) as ReadonlyArray<keyof CardImport>;

/** A problem of one row, in words for the author of the file. */
export class RowProblem extends Error {}

function integer(min: number, max: number): Reader<number> {
  return (value, column) => {
    const number = typeof value === 'string' && INTEGER.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max)
      return number;
    throw new RowProblem(`${column} ${show(value)} is not an integer from ${min} to ${max}`);
  };
}

function iccid(value: unknown): string {
  if (typeof value === 'string' && ICCID.test(value)) return value;
  if (typeof value === 'number')
    throw new RowProblem('iccid must be a string: a JSON number loses its last digits');
  const padded = /^\d{18,22}F+$/i.test(String(value)) ? ': leave out the F at its end' : '';
  throw new RowProblem(`iccid ${show(value)} is not 18 to 22 digits${padded}`);
}

function megabytes(value: unknown, column: string): number {
  const read = typeof value === 'string' ? readDecimal(value) : null;
  if (read === 'either') throw new RowProblem(`${column} ${show(value)} is ${bothReadings(String(value))}`);
  const number = read?.value ?? value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
  throw new RowProblem(`${column} ${show(value)} is not a number of megabytes (0 or more)`);
}

export const MAX_VENDOR_ID = 64;
/** Removes the vendor id, in a row of an import. */
export const NO_VENDOR_ID = '-';
/** Printable, without a blank at an end, and not `.` or `..`. */
const VENDOR_ID = /^(?!\.{1,2}$)(?!\p{Z})[^\p{C}\p{Zl}\p{Zp}]{1,64}(?<!\p{Z})$/u;
/** Texts that spreadsheets and programs write for an unreadable or missing id: a word, or an error such as #N/A, #NV or #REF!. */
const NO_VENDOR_IDS: ReadonlyArray<readonly [form: RegExp, why: string]> = [
  [/^\d([.,]\d+)?e\+\d+$/i, 'was shortened by a spreadsheet: format the column as text'],
  [/^\d+[.,]0+$/, 'was made a number by a spreadsheet or a program: format the column as text'],
  [
    /^[^\p{L}\p{N}]?(nan|na|n\/a|n\.a\.?|n\/d|nat|null|nil|none|undefined|无|空)[^\p{L}\p{N}]?$|^#(nv|.*[!?])$|^\\N$|^\p{P}+$/iu,
    `means no value: leave it empty, or write ${NO_VENDOR_ID} to remove the stored one`,
  ],
];

function vendorId(value: unknown): string {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text === 'number')
    throw new RowProblem('vendor_id must be a string: a JSON number loses its last digits');
  if (typeof text !== 'string' || !VENDOR_ID.test(text))
    throw new RowProblem(`vendor_id ${show(value)} is not 1 to 64 printable characters`);
  const [, why] = text === NO_VENDOR_ID ? [] : (NO_VENDOR_IDS.find(([form]) => form.test(text)) ?? []);
  if (why !== undefined) throw new RowProblem(`vendor_id ${show(text)} ${why}`);
  return text;
}

function boolean(value: unknown, column: string): boolean {
  if (typeof value === 'boolean') return value;
  const known = typeof value === 'object' ? undefined : BOOLEANS.get(String(value).toLowerCase());
  if (known !== undefined) return known;
  throw new RowProblem(`${column} ${show(value)} is not true, false, yes, no, 1 or 0`);
}

/** Shows a value in an error. Nested values are not written out, because they may be very deep. */
function show(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? '[...]' : '{...}';
  return quoted(String(value));
}

/** The beginning of a text from the file, without control characters that could affect a terminal. */
export function quoted(text: string): string {
  const start = withoutSteering(text.slice(0, 40), '?');
  return `'${start}${text.length > 40 ? '...' : ''}'`;
}

/**
 * Number of running cards that an import without an explicit permission may put over their monthly package, and so have stopped.
 * The budget of stops limits the speed of stops; this limits how many cards an unseen file stops at all.
 */
export const ACCEPTED_OVER_PACKAGE = 100;

/** The code of the refusal above that number. */
export const TOO_MANY_OVER_PACKAGE = 'cards_over_package';

/** The end of an ICCID that a spreadsheet may have rounded. */
export const ROUNDED_END = '0000';

/** The code of the refusal of doubtful ICCIDs. */
export const DOUBTFUL_ICCIDS = 'iccids_doubtful';

interface NewIccids {
  readonly newIccids: number;
  /** ICCIDs that end in ROUNDED_END. */
  readonly roundedIccids: number;
  /** ICCIDs of another card, with or without its check digit. */
  readonly twinIccids: number;
}

/** One ICCID in ten thousand ends so by chance: twice as many are a reason to ask. */
export function areDoubtful({ newIccids, roundedIccids, twinIccids }: NewIccids): boolean {
  return twinIccids > 0 || roundedIccids > Math.floor(newIccids / 5_000);
}

/** @returns the permitted number for an import after a preview counted `counted`: polls find more cards in between. */
export function acceptedAfter(counted: number): number {
  return Math.ceil(counted * 1.1);
}
