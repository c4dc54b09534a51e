// Pages of long lists, and the bounds of requests for them, for operations, API and command line.

/** Pages count from 1. */
export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
}

/** Part of a longer list, by offset and limit. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface SliceOf<Item> {
  readonly items: readonly Item[];
  /** Number of items in the whole list. */
  readonly total: number;
}

export function sliceOf({ page, pageSize }: PageRequest): Slice {
  return { offset: (page - 1) * pageSize, limit: pageSize };
}

export const PAGE_BOUNDS = { min: 1, max: 1_000_000 };
export const PAGE_SIZE_BOUNDS = { min: 1, max: 100 };

/** Bounds for a list that continues after an id instead. */
export const LIST_LIMIT_BOUNDS = { min: 1, max: 1_000 };

/** Ids of rules, configs and silences. */
export const RECORD_ID_BOUNDS = { min: 1, max: 2 ** 31 - 1 };
/** Separate bounds, because there may be more of them than of rules. */
export const ALERT_ID_BOUNDS = { min: 1, max: Number.MAX_SAFE_INTEGER };
