// The width of text on a terminal. string-width takes 15 ms to load, so styleFor loads it for output with a layout.

/** Characters of one unit and one column: ASCII, and the characters of charts and marks. */
const SIMPLE = /^[\x20-\x7e\u2500-\u259f\u2800-\u28ff●▲■▸✖…→←↑↓]*$/;

let stringWidth = ({ length }: string): number => length;

/** Before this call all characters count as one column. */
export async function loadWidths(): Promise<void> {
  ({ default: stringWidth } = await import('string-width'));
}

/** Columns of the terminal that a text takes: Chinese, Japanese and Korean characters take two. */
export function widthOf(text: string): number {
  return SIMPLE.test(text) ? text.length : stringWidth(text);
}
