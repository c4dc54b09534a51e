// Lists come in pages (contract, "Lists"): {items, page, page_size, total}. Used by the routes that list resources.
import { z } from 'zod';
import { PAGE_BOUNDS, PAGE_SIZE_BOUNDS, type PageRequest } from '../../domain/page.ts';
import { toWire, type Wire } from '../../platform/snake-keys.ts';
import { wireSchema } from '../wire-schema.ts';
import { queryNumber } from './fields.ts';

const DEFAULT_PAGE_SIZE = 20;

export const pageQuery = z.object({
  page: queryNumber(PAGE_BOUNDS).default(1),
  page_size: queryNumber(PAGE_SIZE_BOUNDS).default(DEFAULT_PAGE_SIZE),
});
type PageQuery = z.output<typeof pageQuery>;

/** A list that is short and has no pages. */
export function itemsOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(wireSchema(item)) });
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(wireSchema(item)), page: z.int(), page_size: z.int(), total: z.int() });
}

/** One page of a list that is short enough to be read in full. */
export function paginate<Item>(all: readonly Item[], { page, page_size }: PageQuery) {
  const from = (page - 1) * page_size;
  return { items: all.slice(from, from + page_size), page, page_size, total: all.length };
}

/** A page of a list that is read page by page. */
export function onPage<Item>(
  { items, total }: { readonly items: readonly Item[]; readonly total: number },
  { page, page_size }: PageQuery,
) {
  return { items: toWire(items) as Wire<Item>[], page, page_size, total };
}

export function pageRequestOf({ page, page_size: pageSize }: PageQuery): PageRequest {
  return { page, pageSize };
}
