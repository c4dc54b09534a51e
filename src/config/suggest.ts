// "Did you mean ...?" for keys, variables and commands. One measure of closeness for the whole product.
import { closest, distance } from 'fastest-levenshtein';

/** The known name nearest to a mistyped one, or null when no name is close enough. */
export function nearest(typed: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const best = closest(typed, known as string[]);
  return distance(typed, best) <= Math.max(2, Math.floor(typed.length / 3)) ? best : null;
}

/** ` (did you mean X?)`, or an empty string. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const best = nearest(typed, known);
  return best === null ? '' : ` (did you mean ${best}?)`;
}
