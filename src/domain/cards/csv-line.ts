// A line of a CSV file of cards, which an import reads back as it was. Used for exports and for the files that undo an import.
import { decimalText } from './decimal-text.ts';

/** @param values null and undefined are empty fields. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\n`;
}

function csvField(value: unknown): string {
  const text = typeof value === 'number' ? decimalText(value) : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
