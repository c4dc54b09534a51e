// Runs one exchange with the daemon for a command: opens the client, and shows a spinner when the answer takes long. Most
// commands then only print the answer: one object, a short list, or a long list with the latest items first.
import type { ApiClient } from '../api/client/client.ts';
import type { Answer } from '../api/client/client-calls.ts';
import { integer } from '../config/kinds.ts';
import type { ClientConfig } from '../config/load-config.ts';
import { PAGE_BOUNDS, PAGE_SIZE_BOUNDS } from '../domain/page.ts';
import { CardpollError } from '../platform/errors.ts';
import { EXIT_NEGATIVE } from '../platform/exit-codes.ts';
import type { ItemsBody, PageBody } from '../resources/schema.ts';
import type { Style } from '../terminal/style.ts';
import type { CommandContext, Io, OptionSpec, OptionsOf } from './command.ts';
import { type ListLook, type PageLook, printAll, printAnswer, printList, printPage } from './output/print.ts';

const SPINNER_AFTER_MS = 300;

/** Opens a client, whose code is loaded on demand. @param signal ends its calls. */
export async function openClient(
  { clock }: Io,
  { url, token, tokenFrom, timeoutMs }: Pick<ClientConfig, 'url' | 'token' | 'tokenFrom' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<ApiClient> {
  const { apiClient } = await import('../api/client/client.ts');
  return apiClient({ url, token, tokenFrom, timeoutMs, signal, clock });
}

/** @param label text of the spinner, without dots. */
export async function ask<T>(
  context: CommandContext,
  label: string,
  exchange: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const client = await context.client();
  const stopSpinner = spinLater(context, label);
  try {
    return await exchange(client);
  } finally {
    await stopSpinner();
  }
}

/** Starts the spinner after a delay, because ora is slow to load. @returns a function that stops it. */
function spinLater({ io }: CommandContext, label: string): () => Promise<void> {
  // Some terminals report a width of 0 (script, expect, some containers); ora then never stops clearing lines. On a dumb
  // terminal, whose cursor cannot move, it would print a line instead.
  if (io.stderr.isTTY !== true || !io.stderr.columns || io.env.TERM === 'dumb') return async () => {};
  let spinner: Promise<{ stop(): unknown }> | null = null;
  const timer = setTimeout(() => {
    spinner = import('ora').then(({ default: ora }) =>
      ora({ text: label, stream: io.stderr as NodeJS.WriteStream, discardStdin: false }).start(),
    );
  }, SPINNER_AFTER_MS);
  return async () => {
    clearTimeout(timer);
    (await spinner)?.stop();
  };
}

type Exchange<Body> = (client: ApiClient) => Promise<Answer<Body>>;

/** @param label text of the spinner. @returns the exit code, as all functions that print an answer. */
export async function showAnswer<Body>(
  context: CommandContext,
  label: string,
  exchange: Exchange<Body>,
  asTable: (body: Body, style: Style) => string,
): Promise<number> {
  return printAnswer(context, await ask(context, label, exchange), asTable);
}

/** For a list without pages. */
export async function showList<Item>(
  context: CommandContext,
  label: string,
  exchange: Exchange<ItemsBody<Item>>,
  look: ListLook<Item>,
): Promise<number> {
  return printList(context, await ask(context, label, exchange), look);
}

/**
 * For commands that end something: finished work cannot be ended, and a retry would change nothing, so the command answers no.
 * Throws every other error.
 */
export async function unlessOver({ io }: CommandContext, work: Promise<number>): Promise<number> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CardpollError) || error.kind !== 'conflict') throw error;
    io.stderr.write(`cardpoll: ${error.message}\n`);
    return EXIT_NEGATIVE;
  }
}

/** @param pageSize default number of lines per page. */
export function pageOptions(pageSize: number) {
  return [
    { flags: '--page <n>', doc: 'page number, from 1', kind: integer(PAGE_BOUNDS), default: 1 },
    {
      flags: '--page-size <n>',
      doc: `lines per page, 1 to ${PAGE_SIZE_BOUNDS.max}`,
      kind: integer(PAGE_SIZE_BOUNDS),
      default: pageSize,
    },
    { flags: '--all', doc: 'all pages' },
  ] as const satisfies readonly OptionSpec[];
}

type PageOptions = OptionsOf<ReturnType<typeof pageOptions>>;

/** Shows the answer to a request that ends something. */
export function showUnlessOver<Body>(
  ...[context, ...shown]: Parameters<typeof showAnswer<Body>>
): Promise<number> {
  return unlessOver(context, showAnswer(context, ...shown));
}

export type ReadPage<Item> = (page: number, pageSize: number) => Promise<Answer<PageBody<Item>>>;

interface Pages<Item> extends PageLook<Item> {
  /** Text of the spinner. */
  readonly label: string;
  readonly read: (client: ApiClient, ...page: Parameters<ReadPage<Item>>) => ReturnType<ReadPage<Item>>;
  readonly keyOf: (item: Item) => string | number;
}

/** One page of a long list, or with --all every page. */
export async function showPages<Item>(
  context: CommandContext,
  { all, page, pageSize }: PageOptions,
  pages: Pages<Item>,
): Promise<number> {
  if (all === true) return printAll(context, everyPage(context, pages), pages);
  const answer = await ask(context, pages.label, (client) => pages.read(client, page, pageSize));
  return printPage(context, answer, pages);
}

/** New items move the others to later pages, so the first items of a page may repeat the previous page. */
async function* everyPage<Item>(context: CommandContext, { label, read, keyOf }: Pages<Item>) {
  let before = new Set<string | number>();
  for await (const items of pagesOf((...page) => ask(context, label, (client) => read(client, ...page)))) {
    const known = before;
    yield items.filter((item) => !known.has(keyOf(item)));
    before = new Set(items.map(keyOf));
  }
}

/** The items of every page of a list. */
export async function* pagesOf<Item>(read: ReadPage<Item>): AsyncGenerator<readonly Item[]> {
  for (let page = 1; ; page += 1) {
    const { items } = (await read(page, PAGE_SIZE_BOUNDS.max)).body;
    yield items;
    if (items.length < PAGE_SIZE_BOUNDS.max) return;
  }
}
