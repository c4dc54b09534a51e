// "Did you mean ...?" for keys, variables and commands. One measure of closeness for the whole product.
import { closest, distance } from 'fastest-levenshtein';

/** A shorter word is the beginning of too many names. */
const SHORTEST_BEGINNING = 4;

/** The known name that a beginning or a mistyped name means, or null when no name is close enough. */
export function nearest(typed: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const begun = typed.length < SHORTEST_BEGINNING ? [] : known.filter((name) => name.startsWith(typed));
  if (begun.length > 0) return begun.reduce((best, name) => (name.length < best.length ? name : best));
  const best = closest(typed, known as string[]);
  // With two of three letters changed it is another word.
  const most = typed.length <= 3 ? 1 : Math.max(2, Math.floor(typed.length / 3));
  return distance(typed, best) <= most ? best : null;
}

/** ` (did you mean X?)`, or an empty string. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const best = nearest(typed, known);
  return best === null ? '' : ` (did you mean ${best}?)`;
}
