// Counts, sizes and spans of time in words, the same in reports, commands and the dashboard. Pure.

/** All digits, grouped: `1,234,567`. Without Intl, whose first number costs a start of the binary 10 to 25 ms. */
export function grouped(value: number): string {
  return String(Number(value.toFixed(3))).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');
}

/** `10,434 rows`, `1 row`. */
export function countWords(count: number, one: string, many = `${one}s`, shown = grouped): string {
  return `${shown(count)} ${count === 1 ? one : many}`;
}

/** `12,345 cards`, `1 card`; with a verb `12,345 cards are`, `1 card is`. */
export function cardCount(cards: number, verb?: readonly [one: string, many: string]): string {
  const [one, many] = verb?.map((word) => ` ${word}`) ?? ['', ''];
  return countWords(cards, `card${one}`, `cards${many}`);
}

const DAY = { seconds: 86_400, letter: 'd', word: 'd' } as const;
const HOUR = { seconds: 3_600, letter: 'h', word: 'h' } as const;
const MINUTE = { seconds: 60, letter: 'm', word: 'min' } as const;
const SECOND = { seconds: 1, letter: 's', word: 's' } as const;

/** For tables, and for configured intervals. In the two largest units: `2h 5m`. */
export function span(seconds: number): string {
  let rest = seconds;
  const parts: string[] = [];
  for (const { seconds: size, letter } of [DAY, HOUR, MINUTE, SECOND]) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${letter}`);
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}

/**
 * For measured times and waits, in sentences: `38 s`, `2 min`. In the largest unit of which there are two or more, rounded up, so
 * that a wait is never shorter than promised.
 */
export function spanWords(seconds: number): string {
  const { seconds: size, word } = [DAY, HOUR, MINUTE].find((unit) => seconds >= 2 * unit.seconds) ?? SECOND;
  return `${Math.ceil(seconds / size)} ${word}`;
}

/** `512 B`, `1.5 KB`, `6.1 GB`: powers of 1,000. */
export function byteWords(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const numbers = units.map((_, power) => (bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1));
  const fits = numbers.findIndex((number) => Number(number) < 1000);
  const power = fits < 0 ? units.length - 1 : fits;
  return `${numbers[power]} ${units[power]}`;
}
