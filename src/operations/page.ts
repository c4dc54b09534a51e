// Pages of long lists. Used by the operations that list what the records keep.
import type { Slice } from '../store/ports/alert-records.ts';

/** Pages count from 1. */
export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
}

export function sliceOf({ page, pageSize }: PageRequest): Slice {
  return { offset: (page - 1) * pageSize, limit: pageSize };
}
