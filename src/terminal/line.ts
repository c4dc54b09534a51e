// Text in the columns of a terminal: made harmless, cut to fit, padded with blanks, and wrapped at words. Used by tables and
// sentences here, and by the dashboard.
import { plainText } from '../domain/plain-text.ts';
import { widthOf } from './width.ts';

/** Text in one tone. The printer decides how a tone looks. */
export interface Toned<Tone> {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

const ELLIPSIS = '…';
export function lineWidth(line: readonly Toned<unknown>[]): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** The line in a displayable form: harmless, and cut with an ellipsis if it is wider than the columns. */
export function fitted<Tone>(line: readonly Toned<Tone>[], columns: number): readonly Toned<Tone>[] {
  const safe = line.map(({ text, tone }) => ({ text: plainText(text), tone }));
  if (lineWidth(safe) <= columns) return safe;
  if (columns <= 0) return [];
  const kept: Toned<Tone>[] = [];
  let left = columns - ELLIPSIS.length;
  for (const { text, tone } of safe) {
    const width = widthOf(text);
    if (width > left) return [...kept, { text: `${beginning(text, left)}${ELLIPSIS}`, tone }];
    kept.push({ text, tone });
    left -= width;
  }
  return kept;
}

/** Fitted, and padded with blanks. */
export function padded<Tone>(
  line: readonly Toned<Tone>[],
  columns: number,
  align: 'left' | 'right',
): readonly Toned<Tone>[] {
  const shown = fitted(line, columns);
  const blanks = { text: ' '.repeat(Math.max(0, columns - lineWidth(shown))) };
  return align === 'left' ? [...shown, blanks] : [blanks, ...shown];
}

function beginning(text: string, columns: number): string {
  let kept = '';
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    kept += segment;
  }
  return kept;
}

/** Lines no wider than `columns`. A word that is wider is broken over several lines. */
export function wordWrap(text: string, columns: number): string[] {
  const words = text.split(' ').flatMap((word) => broken(word, columns));
  return flow(words, ' ', columns);
}

/** Puts as many parts on a line as fit, without breaking any. */
export function flow(parts: readonly string[], gap: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}${gap}${part}`;
    if (line !== '' && widthOf(longer) > columns) {
      lines.push(line);
      line = part;
    } else line = longer;
  }
  return [...lines, line];
}

function broken(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word];
  const parts = [''];
  let width = 0;
  for (const { segment } of graphemesOf(word)) {
    const own = widthOf(segment);
    if (width > 0 && width + own > columns) {
      parts.push('');
      width = 0;
    }
    parts[parts.length - 1] += segment;
    width += own;
  }
  return parts;
}

/** Created on the first cut, because that takes 8 ms. */
let segmenter: Intl.Segmenter | null = null;

function graphemesOf(text: string) {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}
