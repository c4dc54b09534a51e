// Text in the columns of a terminal: cut to fit, and broken into lines at its words. Used by tables and by everything
// that prints sentences. Knows nothing of colours: it is given plain text.

const ELLIPSIS = '…';
const graphemes = new Intl.Segmenter();

type WidthOf = (text: string) => number;

/** The text, or as much of its beginning as fits with … behind it. */
export function cutTo(text: string, columns: number, widthOf: WidthOf): string {
  if (widthOf(text) <= columns) return text;
  const room = columns - ELLIPSIS.length;
  let kept = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > room) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}${ELLIPSIS}` : '';
}

/** Lines no wider than `columns`; a word that is wider stands on lines of its own, broken. */
export function wordWrap(text: string, columns: number | null, widthOf: WidthOf): string[] {
  if (columns === null) return [text];
  const words = text.split(' ').flatMap((word) => broken(word, columns, widthOf));
  return flow(words, ' ', columns, widthOf);
}

/** As many parts a line as fit, none broken. */
export function flow(
  parts: readonly string[],
  gap: string,
  columns: number | null,
  widthOf: WidthOf,
): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}${gap}${part}`;
    if (line !== '' && columns !== null && widthOf(longer) > columns) {
      lines.push(line);
      line = part;
    } else line = longer;
  }
  return [...lines, line];
}

function broken(word: string, columns: number, widthOf: WidthOf): string[] {
  if (widthOf(word) <= columns) return [word];
  const parts = [''];
  let width = 0;
  for (const { segment } of graphemes.segment(word)) {
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
