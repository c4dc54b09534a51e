// Shows a long list, the latest first: one page of it, or with --all every page. Used by the commands that list.
import type { ApiClient } from '../api/client/client.ts';
import type { PageBody } from '../api/client/client-bodies.ts';
import type { Answer } from '../api/client/client-calls.ts';
import { PAGE_SIZE_BOUNDS } from '../domain/page.ts';
import { ask } from './ask.ts';
import type { CommandContext } from './command.ts';
import { EXIT_OK } from './exit-codes.ts';
import type { PageOptions } from './options/page-options.ts';
import { type ListLook, printAll, printList } from './output/print.ts';

type ReadPage<Item> = (client: ApiClient, page: number, pageSize: number) => Promise<Answer<PageBody<Item>>>;

interface Pages<Item> extends ListLook<Item> {
  /** What the spinner says. */
  readonly label: string;
  readonly read: ReadPage<Item>;
  readonly keyOf: (item: Item) => string | number;
}

/** @returns the exit code. */
export async function showPages<Item>(
  context: CommandContext,
  { all, page, pageSize }: PageOptions,
  pages: Pages<Item>,
): Promise<number> {
  if (all === true) await printAll(context, everyPage(context, pages), pages);
  else {
    const answer = await ask(context, pages.label, (client) => pages.read(client, page, pageSize));
    await printList(context, answer, pages);
  }
  return EXIT_OK;
}

/** New items move the others to later pages, so that the first ones of a page may have been on the page before. */
async function* everyPage<Item>(context: CommandContext, { label, read, keyOf }: Pages<Item>) {
  let before = new Set<string | number>();
  for (let page = 1; ; page += 1) {
    const { items } = (await ask(context, label, (client) => read(client, page, PAGE_SIZE_BOUNDS.max))).body;
    const known = before;
    yield items.filter((item) => !known.has(keyOf(item)));
    if (items.length < PAGE_SIZE_BOUNDS.max) return;
    before = new Set(items.map(keyOf));
  }
}
