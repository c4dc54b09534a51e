// max_concurrency, the limit of polls in flight that operators set for a task type: its default, its bounds and the
// recommended range.

/** The limit that a task type starts with: safe for a gateway whose response time has not been measured yet. */
export const DEFAULT_MAX_CONCURRENCY = 100;
export const MAX_CONCURRENCY_BOUNDS = { min: 1, max: 100_000 } as const;

/** What operations interface, section 8, recommends for an average gateway response time; both ends included. */
export function recommendedConcurrency(responseMs: number): { readonly min: number; readonly max: number } {
  if (responseMs < 100) return { min: 100, max: 200 };
  return responseMs <= 500 ? { min: 50, max: 100 } : { min: 20, max: 50 };
}
