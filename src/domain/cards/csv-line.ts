// A line of a CSV file of cards, which an import reads back as it was. Used for exports and for the files that undo an import.
import { decimalText } from './decimal-text.ts';

/**
 * A spreadsheet would calculate such a text, which a vendor may have chosen, and an import takes an apostrophe in front for a sign of
 * text. A hyphen alone is how an import is told to remove a vendor_id.
 */
const LOOKS_LIKE_FORMULA = /^['=+@\uFF1D\uFF0B\uFF0D\uFF20]|^-./;

/** @param values null and undefined are empty fields. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\n`;
}

function csvField(value: unknown): string {
  if (typeof value === 'number') return decimalText(value);
  const plain = String(value ?? '');
  const text = LOOKS_LIKE_FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
