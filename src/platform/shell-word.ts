// Text as one word of a POSIX shell, for command lines that are printed to be copied. Used by commands, by
// operations that name commands, and by the dashboard.

/** Means itself in every shell. */
const PLAIN_WORD = /^[\w%+,./:@-]+$/;

/** As it is where that means the same, and in quotes otherwise. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : shellQuoted(text);
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
