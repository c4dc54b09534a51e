// The syntax of a gateway profile (docs/gateways.md). In a request: placeholders, `/devices/{iccid}/usage`. For a value in the
// answer: its place in the JSON, `data.used`, `result.cards[0].usage`, `[0].value` or `.`, and the unit of a data volume. The
// configuration checks them; the client fills the placeholders in, and compiles each place once.

const OF_CARDS = ['iccid', 'card_id', 'carrier_id', 'vendor_id', 'iccids'] as const;
/**
 * Values of the request itself. `month` is 2026-11, `date` 2026-11-24 and `timestamp` 20261124093000, in the configured time
 * zone; `yyyymm` and `yyyymmdd` are the first two without dashes. `sequence` and `uuid` are unique to a request.
 */
const OF_THE_REQUEST = [
  'month',
  'date',
  'yyyymm',
  'yyyymmdd',
  'timestamp',
  'epoch',
  'epoch_ms',
  'sequence',
  'uuid',
] as const;
/** The operator's names at the gateway, which are no secrets. */
const OF_THE_OPERATOR = ['username', 'client_id'] as const;
const SECRETS = ['password', 'client_secret', 'token'] as const;

/** Placeholders of a call. */
export const PLACEHOLDERS = [...OF_CARDS, ...OF_THE_REQUEST, ...OF_THE_OPERATOR] as const;
/** Placeholders of a login. */
export const LOGIN_PLACEHOLDERS = [...OF_THE_REQUEST, ...OF_THE_OPERATOR, ...SECRETS] as const;

export type CredentialPlaceholder = (typeof OF_THE_OPERATOR | typeof SECRETS)[number];
/** Placeholders that do not depend on a card. */
export type CommonPlaceholder = (typeof LOGIN_PLACEHOLDERS)[number];
export type Placeholder = (typeof PLACEHOLDERS)[number] | CommonPlaceholder;

export const CREDENTIAL_PLACEHOLDERS: readonly CredentialPlaceholder[] = [...OF_THE_OPERATOR, ...SECRETS];

const BRACED = /\{([A-Za-z_]\w*)\}/g;

/** A template in parts: texts, and the placeholders between them. */
interface TemplateParts<Name extends string> {
  /** One more than there are placeholders. */
  readonly texts: readonly string[];
  readonly placeholders: readonly Name[];
}

/** @param text with known placeholders only: the configuration has checked it. */
export function partsOf<Name extends string = Placeholder>(text: string): TemplateParts<Name> {
  const pieces = text.split(BRACED);
  return {
    texts: pieces.filter((_, i) => i % 2 === 0),
    placeholders: pieces.filter((_, i) => i % 2 === 1) as Name[],
  };
}

/** Every name in braces, known or not. */
export function namesInBraces(text: string): string[] {
  return [...text.matchAll(BRACED)].map(([, name = '']) => name);
}

const STEP = /([^.[\]\s]+)|\[(\d{1,6})\]/y;

export type ValuePath = readonly (string | number)[];

/** The place of the whole answer. */
export const WHOLE = '.';

/** @returns the steps of the path, none for the whole answer; null: not a path. */
export function parseValuePath(text: string): ValuePath | null {
  if (text === WHOLE) return [];
  const steps: Array<string | number> = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '.' && steps.length > 0 && text[at + 1] !== '[') at += 1;
    STEP.lastIndex = at;
    const [step, name, index] = STEP.exec(text) ?? [];
    // A name follows a dot, an index does not.
    if (step === undefined || (name !== undefined && steps.length > 0 && text[at - 1] !== '.')) return null;
    steps.push(name ?? Number(index));
    at += step.length;
  }
  return steps.length === 0 ? null : steps;
}

const BLANK = /^\s*[-–—]?\s*$/;

/** Null, or a text that gateways write for a missing value. */
function isBlank(value: unknown): boolean {
  return value === null || (typeof value === 'string' && BLANK.test(value));
}

/**
 * Whether there is nothing at the path: the value, or one of its containers, is blank or absent. A list or a map of another shape
 * is not nothing, unless it is empty: some languages write an empty map as a list.
 */
export function isNothingAt(body: unknown, path: ValuePath): boolean {
  let value = body;
  for (const step of path) {
    if (isBlank(value)) return true;
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value) !== (typeof step === 'number') && Object.keys(value).length > 0) return false;
    if (!Object.hasOwn(value, step)) return true;
    value = (value as Record<string | number, unknown>)[step];
  }
  return isBlank(value);
}

/** @returns the value at the path; undefined: none. Only own properties count. */
export function valueAt(body: unknown, path: ValuePath): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof step === 'number' && !Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/**
 * The units in which gateways report data volume. cardpoll counts megabytes: a million bytes. A card's allowance is in the same
 * unit, so a gateway that counts in 1,024s has the unit KiB, MiB or GiB here, whatever name it uses.
 */
const MB_PER_UNIT = {
  bytes: 1e-6,
  KB: 1e-3,
  MB: 1,
  GB: 1e3,
  TB: 1e6,
  KiB: 1_024 / 1e6,
  MiB: 1_048_576 / 1e6,
  GiB: 1_073_741_824 / 1e6,
  TiB: 1_099_511_627_776 / 1e6,
} as const;

export type DataUnit = keyof typeof MB_PER_UNIT;

export const DATA_UNITS = Object.keys(MB_PER_UNIT) as readonly DataUnit[];

const UNIT_OF_WORD = new Map<string, DataUnit>([
  ...DATA_UNITS.map((unit) => [unit.toLowerCase(), unit] as const),
  ['b', 'bytes'],
  ['byte', 'bytes'],
]);

/** A vendor's words for units, in lower case: for example, `m` is MB. */
export type UnitWords = Readonly<Record<string, DataUnit>>;

export const NO_WORDS: UnitWords = {};

/** @returns the unit that a word or a number of an answer names, in upper or lower case; null: none is known. */
export function dataUnitIn(raw: unknown, words: UnitWords = NO_WORDS): DataUnit | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null;
  const word = unitWord(String(raw));
  return Object.hasOwn(words, word) ? (words[word] ?? null) : (UNIT_OF_WORD.get(word) ?? null);
}

/** The form in which units are compared. */
export function unitWord(text: string): string {
  return text.trim().toLowerCase();
}

const DIGITS = 1e9;

/** Rounds to thousandths of a byte, so that a sum of readings shows no digits of floating-point error. */
export function roundedMb(value: number): number {
  return Math.round(value * DIGITS) / DIGITS;
}

export function megabytes(value: number, unit: DataUnit): number {
  return unit === 'MB' ? value : roundedMb(value * MB_PER_UNIT[unit]);
}
