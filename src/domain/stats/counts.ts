// Adds up counts by name or number, and says what a share is at least when few calls were counted. Pure.

/** Key -> count. */
export type Counts<Key extends string | number> = Readonly<Record<Key, number>>;

export function sumOfCounts<Key extends string | number>(all: ReadonlyArray<Counts<Key>>): Counts<Key> {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [key, count] of Object.entries<number>(counts)) sum[key] = (sum[key] ?? 0) + count;
  }
  return sum as Counts<Key>;
}

/** 99 % two-sided: one window in two hundred exceeds the bound by chance. */
const Z = 2.58;

/** The lower bound of Wilson's score interval for a share (0 to 1) observed in this many independent calls. @returns 0 to 1 */
export function lowerBoundOfShare(share: number, calls: number): number {
  if (calls === 0) return 0;
  const z2 = Z * Z;
  const spread = Z * Math.sqrt((share * (1 - share)) / calls + z2 / (4 * calls * calls));
  return Math.max(0, (share + z2 / (2 * calls) - spread) / (1 + z2 / calls));
}
