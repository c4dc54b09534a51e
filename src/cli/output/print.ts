// Prints an API answer in the format asked for: JSON as the API sent it (indented on a terminal), YAML of the same, one
// item a line, or a table. Every reading command ends here.

import type { ItemsBody, PageBody } from '../../api/client/client-bodies.ts';
import type { Answer } from '../../api/client/client-calls.ts';
import type { CommandContext } from '../command.ts';
import { type Style, styleFor } from './style.ts';

export async function printAnswer<Body>(
  context: CommandContext,
  answer: Answer<Body>,
  asTable: (body: Body, style: Style) => string,
): Promise<void> {
  context.io.stdout.write(await rendered(context, answer, asTable));
}

interface ListLook<Item> {
  readonly table: (items: readonly Item[], style: Style) => string;
  /** `rules`: what is listed. */
  readonly noun: string;
  /** Printed on a terminal instead of an empty table: that there are none, and what to type. */
  readonly empty: string;
}

/** Prints a list, or one page of it. A terminal also gets the number of pages. */
export function printList<Item>(
  context: CommandContext,
  answer: Answer<ItemsBody<Item>>,
  { table, noun, empty }: ListLook<Item>,
): Promise<void> {
  return printAnswer(context, answer, (body, style) => {
    if (!style.forPeople) return table(body.items, style);
    const page = pageOf(body);
    if (body.items.length > 0) return table(body.items, style) + footer(page, noun, style);
    if (page === null || page.total === 0) return `${empty}\n`;
    return `there is no page ${page.number}: ${page.total} ${noun} on ${page.pages} pages\n`;
  });
}

interface Page {
  readonly number: number;
  readonly pages: number;
  readonly total: number;
}

/** Null where the answer holds everything there is. */
function pageOf(body: ItemsBody<unknown>): Page | null {
  const { page, page_size: size, total } = body as Partial<PageBody<unknown>>;
  if (page === undefined || size === undefined || total === undefined) return null;
  return { number: page, pages: Math.ceil(total / size), total };
}

function footer(page: Page | null, noun: string, style: Style): string {
  if (page === null || page.pages < 2) return '';
  const { number, pages, total } = page;
  const next = number < pages ? `: --page ${number + 1}` : '';
  const [shownPages, count] = [pages, total].map((value) => style.number(value).text);
  return `${style.paint(`page ${number} of ${shownPages}, ${count} ${noun}${next}`, 'dim')}\n`;
}

/** @returns the text that printAnswer prints. */
export async function rendered<Body>(
  { io, format, wide, header }: CommandContext,
  { body, text }: Answer<Body>,
  asTable: (body: Body, style: Style) => string,
): Promise<string> {
  if (format === 'yaml') return (await import('yaml')).stringify(body);
  if (format === 'jsonl') return jsonLines(body);
  if (format === 'table') return asTable(body, await styleFor(io, { wide, header }));
  if (io.stdout.isTTY === true) return `${JSON.stringify(body, null, 2)}\n`;
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** One line for each item of a list. A body that is not a list is one line. */
function jsonLines(body: unknown): string {
  const { items } = body as Partial<ItemsBody<unknown>>;
  return (Array.isArray(items) ? items : [body]).map((item) => `${JSON.stringify(item)}\n`).join('');
}
