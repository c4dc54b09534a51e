// Breaks sentences into lines at blanks, for people on a terminal. Text without blanks (a command, an id) stays whole: it
// is there to be copied. Used by explanation.ts and findings.ts.

/** @param indent stands before the first line; the others are indented as far. */
export function wrapped(text: string, width: number, indent: string): string {
  const room = ' '.repeat(indent.length);
  const lines: string[] = [];
  let line = indent;
  let empty = true;
  for (const word of text.split(' ')) {
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = room;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line].map((one) => `${one}\n`).join('');
}

/** Columns of the terminal; what does not know its width, or is none, counts as 80. */
export function widthOf(stream: { readonly columns?: number | undefined }): number {
  return Math.max(40, stream.columns || 80);
}
