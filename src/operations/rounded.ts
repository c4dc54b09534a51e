// How numbers of operations are rounded for whoever reads them. Judged is what is not rounded.

/** Two decimals: more would be noise in a table. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
