// How wide text is on a terminal. Loads string-width, so commands import it only when they lay text out.
import stringWidth from 'string-width';

/** Characters of one unit and one column: ASCII, and what charts and marks are made of. */
const SIMPLE = /^[\x20-\x7e\u2500-\u259f\u2800-\u28ff●▲■▸✖…→←↑↓]*$/;

export function widthOf(text: string): number {
  return SIMPLE.test(text) ? text.length : stringWidth(text);
}
