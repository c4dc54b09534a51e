// Parses a data volume as gateways write it: a JSON number, or text with a sign, decimals after a dot, an exponent, thousands
// separators, a unit at the end. An ambiguous text is not read.
import { type DataUnit, dataUnitIn, megabytes, NO_WORDS, type UnitWords } from './profile-syntax.ts';

/** A million terabytes: a larger reading is garbage, and it would spoil the month's usage permanently. */
const MAX_MB = 1e12;
const MAX_CHARS = 100;
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,5})?$/i;
const GROUPED = /^[+-]?[1-9]\d{0,2}(?<by>[,'’_ \u00a0\u2009\u202f])\d{3}(?:\k<by>\d{3})*(?:\.\d*)?$/;
/** Either thousands, or a number below a thousand with a decimal comma. */
const EITHER = /^[+-]?\d{1,3},\d{3}$/;
const WITH_UNIT = /^(.*[\d.])\s*(\p{L}[\p{L} ]*)$/u;

/** What is wrong with a volume; the text continues "the value is ". */
interface BadVolume {
  readonly problem: string;
}

/**
 * @param unit from the profile or another field of the answer; null: megabytes, unless the text has a unit.
 * @param words the vendor's additional words for units.
 * @returns megabytes; NaN: not a volume.
 */
export function volumeIn(
  raw: unknown,
  unit: DataUnit | null,
  words: UnitWords = NO_WORDS,
): number | BadVolume {
  if (typeof raw === 'number') return bounded(megabytes(raw, unit ?? 'MB'));
  if (typeof raw !== 'string' || raw.length > MAX_CHARS) return Number.NaN;
  const [, amount = raw.trim(), word] = WITH_UNIT.exec(raw.trim()) ?? [];
  const own = word === undefined ? null : dataUnitIn(word, words);
  if (word !== undefined && own === null) return { problem: `in the unit ${word}, which is not known` };
  if (own !== null && unit !== null && !agree(own, unit))
    return { problem: `in ${own}, although its unit is ${unit}` };
  const inUnit = unit ?? own ?? 'MB';
  // A number of bytes has no decimals.
  if (EITHER.test(amount) && inUnit !== 'bytes')
    return { problem: `${amount}, of which the comma may separate thousands or decimals` };
  if (PLAIN.test(amount)) return bounded(megabytes(Number(amount), inUnit));
  return GROUPED.test(amount)
    ? bounded(megabytes(Number(amount.replaceAll(/[^\d.+-]/g, '')), inUnit))
    : Number.NaN;
}

/** Many gateways write MB for MiB, so the profile decides. */
export function agree(own: DataUnit, unit: DataUnit): boolean {
  return own === unit || own === unit.replace('i', '');
}

function bounded(mb: number): number {
  return Math.abs(mb) <= MAX_MB ? mb : Number.NaN;
}
