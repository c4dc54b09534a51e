// Sentences on a terminal: broken at their words, what follows the first line indented. Used wherever the daemon's own
// words are shown outside a table.
import type { Style } from './style.ts';
import { wordWrap } from './text-width.ts';

const INDENT = '  ';

/** @param before stands in front of it, as it is. */
export function sentenceLines(text: string, style: Style, before = ''): string[] {
  const { columns, widthOf } = style.layout;
  const room = columns === null ? null : columns - INDENT.length;
  const lines = wordWrap(`${before}${style.text(text).text}`, room, widthOf);
  return lines.map((line, index) => (index === 0 ? line : `${INDENT}${line}`));
}
