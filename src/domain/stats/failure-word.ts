// The kinds of failed polls in words for people. JSON and logs have the kinds themselves.

/** 429 and 503 are `backpressure` in the code. */
export function failureWord(kind: string): string {
  return kind === 'backpressure' ? 'refused' : kind;
}
