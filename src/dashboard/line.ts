// What a screen is made of: lines of spans, a span being text in one tone. Views make them, screen.tsx paints them.
// Everything that is shown passes `fitted`, which takes out what could steer a terminal and keeps a line in its width.
import stringWidth from 'string-width';

/** Colours stand for these; none of them is the only sign of anything. */
export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'dim' | 'bold' | 'picked';

export interface Span {
  readonly text: string;
  readonly tone?: Tone | undefined;
}
export type Line = readonly Span[];

export const EMPTY: Line = [];
const ELLIPSIS = '…';
/** Of one unit, one column and no power over a terminal: ASCII, and what charts and marks are made of. */
const SIMPLE = /^[\x20-\x7e\u2500-\u259f\u2800-\u28ff●▲■▸✖…→←↑↓]*$/;
/** Controls, and what has no width of its own but changes how the rest is shown (direction marks, joiners). */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

export function span(text: string | number, tone?: Tone): Span {
  return { text: String(text), tone };
}

/** A line of one span. */
export function plain(text: string, tone?: Tone): Line {
  return [span(text, tone)];
}

/** Columns on a terminal. */
export function widthOf(text: string): number {
  return SIMPLE.test(text) ? text.length : stringWidth(text);
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** The text without anything a terminal would obey. Names, reasons and messages come from outside. */
export function harmless(text: string): string {
  return SIMPLE.test(text) ? text : text.replace(STEERING, ' ');
}

/** The line as it is shown: harmless, and cut with an ellipsis where it is wider than the columns. */
export function fitted(line: Line, columns: number): Line {
  const safe = line.map(({ text, tone }) => ({ text: harmless(text), tone }));
  if (lineWidth(safe) <= columns) return safe;
  const kept: Span[] = [];
  let left = columns - 1;
  for (const { text, tone } of safe) {
    const width = widthOf(text);
    if (width > left) {
      kept.push({ text: `${cut(text, left)}${ELLIPSIS}`, tone });
      return columns <= 0 ? EMPTY : kept;
    }
    kept.push({ text, tone });
    left -= width;
  }
  return kept;
}

/** As much of the text as fits. */
function cut(text: string, columns: number): string {
  if (SIMPLE.test(text)) return text.slice(0, Math.max(0, columns));
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return kept;
}

/** Fitted, and filled up with blanks. */
export function padded(line: Line, columns: number, align: 'left' | 'right' = 'left'): Line {
  const shown = fitted(line, columns);
  const room = columns - lineWidth(shown);
  if (room <= 0) return shown;
  const blanks = span(' '.repeat(room));
  return align === 'left' ? [...shown, blanks] : [blanks, ...shown];
}

/** Left and right part on one line; where both do not fit, the left one is cut. */
export function spread(left: Line, right: Line, columns: number): Line {
  const width = lineWidth(fitted(right, columns));
  const room = columns - width - 1;
  return room < 1 ? fitted(right, columns) : [...padded(left, room), span(' '), ...fitted(right, columns)];
}

/** Two blocks of lines beside each other, `gap` columns between them. */
export function beside(left: readonly Line[], right: readonly Line[], leftColumns: number, gap = 2): Line[] {
  const height = Math.max(left.length, right.length);
  return Array.from({ length: height }, (_, i) => [
    ...padded(left[i] ?? EMPTY, leftColumns + gap),
    ...(right[i] ?? EMPTY),
  ]);
}

/** A long text over several lines, broken between words; a word that does not fit is cut by `fitted`. */
export function wrapped(text: string, columns: number, tone?: Tone): Line[] {
  const lines: string[] = [];
  for (const word of harmless(text).split(/ +/)) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => plain(line, tone));
}
