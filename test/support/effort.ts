// How much of a thing a test tries: `npm test` shows it by a sample, `npm run test:long` has minutes for all of it. The
// files that import this run in both (the project `samples` of test/vitest.config.ts). What may be sampled, and what not:
// CONTRIBUTING.md, "Working on it".
import { describe } from 'vitest';

export const IS_LONG = process.env.TEST_LONG === '1';

/** So many seeds, runs or cards. */
export function sampled(quick: number, all: number): number {
  return IS_LONG ? all : quick;
}

/** Rows for `it.each`: the first ones, which differ most, come first. */
export function firstRows<Row>(quick: number, rows: readonly Row[]): readonly Row[] {
  return IS_LONG ? rows : rows.slice(0, quick);
}

/** A group of tests that `npm test` leaves to `npm run test:long`. */
export function describeLong(name: string, tests: () => void): void {
  if (IS_LONG) describe(name, tests);
}
