// Adds up counts by name or number. Pure.

/** Key -> count. */
export type Counts<Key extends string | number> = Readonly<Record<Key, number>>;

export function sumOfCounts<Key extends string | number>(all: ReadonlyArray<Counts<Key>>): Counts<Key> {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [key, count] of Object.entries<number>(counts)) sum[key] = (sum[key] ?? 0) + count;
  }
  return sum as Counts<Key>;
}
