// A whole list of the API, page by page. For lists that are short enough to be held.

import type { PageBody } from '../api/client/client-bodies.ts';
import type { Answer } from '../api/client/client-calls.ts';
import { PAGE_SIZE_BOUNDS } from '../domain/page.ts';

export async function everyItem<Item>(
  read: (page: number, pageSize: number) => Promise<Answer<PageBody<Item>>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await read(page, PAGE_SIZE_BOUNDS.max);
    items.push(...body.items);
    if (body.items.length < PAGE_SIZE_BOUNDS.max) return items;
  }
}
