// Spans of time in sentences: `38 s`, `2 min`, `3 h`. Used by the sentences of explain, doctor and health. Pure.
const UNITS = [
  { seconds: 86_400, word: 'd' },
  { seconds: 3_600, word: 'h' },
  { seconds: 60, word: 'min' },
] as const;

/** In the largest unit of which there are two or more, rounded up, so that a wait is never shorter than promised. */
export function spanWords(seconds: number): string {
  const unit = UNITS.find((one) => seconds >= 2 * one.seconds);
  return unit === undefined ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / unit.seconds)} ${unit.word}`;
}

/** `10,434 cards`, `1 card`. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
