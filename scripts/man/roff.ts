// The few roff requests the manual needs, and text made safe for them. Used by the pages in this folder. Lines stay
// unfilled in examples only; everywhere else roff breaks them.

/** Text that roff prints as it is: no character of it is a request, an escape or a typographic substitute. */
export function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^(?=\.)/gm, '\\&');
}

export function bold(text: string): string {
  return `\\fB${roff(text)}\\fP`;
}

/** Sentences; text between backticks is bold. A line break in them becomes a space. */
export function prose(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .split(/(`[^`]+`)/)
    .map((part) => (/^`.+`$/.test(part) ? bold(part.slice(1, -1)) : roff(part)))
    .join('');
}

export function section(title: string, ...lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${macroArgument(title)}`, ...lines];
}

export function subsection(title: string, ...lines: readonly string[]): string[] {
  return [`.SS ${macroArgument(title)}`, ...lines];
}

/** A term and, indented under it, what it means. Both are roff already. */
export function item(term: string, meaning: string): string[] {
  return ['.TP', term, meaning];
}

/** Text that keeps its lines, as it would be typed. */
export function verbatim(lines: readonly string[]): string[] {
  return ['.PP', '.nf', '.RS 4', ...lines.map((line) => (line === '' ? '.sp' : roff(line))), '.RE', '.fi'];
}

/** @param release the footer: `cardpoll 1.2.3`. */
export function page(name: string, volume: number, release: string, lines: readonly string[]): string {
  const title = `.TH ${macroArgument(name.toUpperCase())} ${volume} "" ${macroArgument(release)} "cardpoll manual"`;
  // Neither hyphenated nor adjusted: readers copy words of this manual as they are. groff 1.23 sets both again at each
  // paragraph, from the register HY and the string AD.
  return `${[title, '.nh', '.ad l', '.nr HY 0', '.ds AD l', ...lines].join('\n')}\n`;
}

function macroArgument(text: string): string {
  return `"${roff(text).replaceAll('"', '\\(dq')}"`;
}
