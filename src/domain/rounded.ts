// Rounding of numbers for display. Verdicts use the unrounded numbers.

/** Two decimals: more would be noise in a table. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value);
}
