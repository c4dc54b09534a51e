// Converts a page of a list to offset and limit. Used by the operations that list records.
import type { PageRequest } from '../domain/page.ts';
import type { Slice } from '../store/ports/records/alert-records.ts';

export function sliceOf({ page, pageSize }: PageRequest): Slice {
  return { offset: (page - 1) * pageSize, limit: pageSize };
}
