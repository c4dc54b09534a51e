// A line of a CSV file of cards, which an import reads back unchanged. Used for exports and for the files that undo an import.
import { decimalText } from './decimal-text.ts';

/**
 * A spreadsheet would evaluate such a text, which a vendor may have chosen, and an import treats a leading apostrophe as a mark
 * of text. A hyphen alone tells an import to remove a vendor_id.
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
