// Spans of time in short: `2h 5m`. For tables of the command line, and for intervals in sentences. Pure.
const UNITS = [
  { seconds: 86_400, letter: 'd' },
  { seconds: 3_600, letter: 'h' },
  { seconds: 60, letter: 'm' },
  { seconds: 1, letter: 's' },
] as const;

/** The two largest units: `2h 5m`. */
export function span(seconds: number): string {
  let rest = seconds;
  const parts: string[] = [];
  for (const { seconds: size, letter } of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${letter}`);
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}
