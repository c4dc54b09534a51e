// How numbers are rounded for whoever reads them. Judged is what is not rounded.

/** Two decimals: more would be noise in a table. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value);
}
