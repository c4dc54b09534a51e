// Quotes text as one word of a POSIX shell, for command lines that users copy. Used by commands, by operations that name
// commands, and by the dashboard.

/** Characters without a special meaning in any shell. */
const PLAIN_WORD = /^[\w%+,./:@-]+$/;

/** Unquoted if that has the same meaning, otherwise in quotes. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : shellQuoted(text);
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
