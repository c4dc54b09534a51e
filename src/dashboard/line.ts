// What a screen is made of: lines of spans, each a text in one tone. Views make them, frames.tsx renders them.
import * as lines from '../cli/output/line.ts';
import { widthOf } from '../cli/output/width.ts';

/** Colours show these. None of them is the only sign of anything. */
export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'dim' | 'bold' | 'picked';
export type Span = lines.Toned<Tone>;
export type Line = readonly Span[];

export const EMPTY: Line = [];

export function span(text: string | number, tone?: Tone): Span {
  return { text: String(text), tone };
}

export function plain(text: string, tone?: Tone): Line {
  return [span(text, tone)];
}

export function lineWidth(line: Line): number {
  return lines.lineWidth(line, widthOf);
}

export function fitted(line: Line, columns: number): Line {
  return lines.fitted(line, columns, widthOf);
}

/** Left and right part on one line. Where both do not fit, the left one is cut. */
export function spread(left: Line, right: Line, columns: number): Line {
  const shown = fitted(right, columns);
  const room = columns - lineWidth(shown) - 1;
  return room < 1 ? shown : [...lines.padded(left, room, 'left', widthOf), span(' '), ...shown];
}

/** Two blocks of lines next to each other, `gap` columns between them. */
export function sideBySide(
  left: readonly Line[],
  right: readonly Line[],
  leftColumns: number,
  gap = 2,
): Line[] {
  const height = Math.max(left.length, right.length);
  return Array.from({ length: height }, (_, i) => [
    ...lines.padded(left[i] ?? EMPTY, leftColumns + gap, 'left', widthOf),
    ...(right[i] ?? EMPTY),
  ]);
}

/** A long text over several lines, broken between words. */
export function wrapped(text: string, columns: number, tone?: Tone): Line[] {
  const sentence = lines.plainText(text).replace(/ +/g, ' ');
  return lines.wordWrap(sentence, columns, widthOf).map((line) => plain(line, tone));
}
