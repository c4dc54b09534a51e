// Prints an API answer in the requested format: JSON as the API sent it (indented on a terminal), the same as YAML, one item per
// line, or a table. Every reading command ends here: functions that print a whole answer return the exit code. Long output is
// written at the pace of its reader. Changes by a command are reported on stderr, because an answer has only the new values.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer } from '../../api/client/client-calls.ts';
import { plainText } from '../../domain/plain-text.ts';
import { cardCount, grouped } from '../../domain/words.ts';
import { EXIT_OK } from '../../platform/exit-codes.ts';
import type { ItemsBody, PageBody } from '../../resources/schema.ts';
import { valueText } from '../../terminal/reports/change-text.ts';
import { inLocale, type Style, sentenceLines, styleFor } from '../../terminal/style.ts';
import { ofItems, textOf } from '../../terminal/table.ts';
import type { CommandContext, Io } from '../command.ts';

export async function printAnswer<Body>(
  context: CommandContext,
  answer: Answer<Body>,
  asTable: (body: Body, style: Style) => string,
): Promise<number> {
  context.io.stdout.write(await rendered(context, answer, asTable));
  return EXIT_OK;
}

/** Wraps a command's own result as an answer of a daemon. */
export function ownAnswer<Body>(body: Body): Answer<Body> {
  return { body, text: JSON.stringify(body) };
}

export interface ListLook<Item> {
  readonly table: (items: readonly Item[], style: Style) => string;
  /** Printed instead of an empty table: that there are no items, and which command to run. */
  readonly empty: string;
}

export function printList<Item>(
  context: CommandContext,
  answer: Answer<ItemsBody<Item>>,
  { table, empty }: ListLook<Item>,
): Promise<number> {
  return printAnswer(context, answer, ({ items }, style) =>
    style.forPeople && items.length === 0 ? `${empty}\n` : table(items, style),
  );
}

export interface PageLook<Item> extends ListLook<Item> {
  /** Name of the listed items, `rules`. */
  readonly noun: string;
  /** Printed before a table: its range of time; null: all times. */
  readonly heading?: string | null;
}

/** Prints one page of a list, with the total. */
export async function printPage<Item>(
  context: CommandContext,
  answer: Answer<PageBody<Item>>,
  { table, noun, empty, heading }: PageLook<Item>,
): Promise<number> {
  const { items, page, total, page_size } = answer.body;
  const pages = Math.ceil(total / page_size);
  const part = items.length > 0 && pages > 1 ? partText(answer.body, pages, noun) : null;
  await printAnswer(context, answer, (_, style) => {
    if (!style.forPeople) return table(items, style);
    const above = headingText(heading, style);
    if (items.length > 0) return above + table(items, style) + (part === null ? '' : dimmed(part, style));
    return total > 0
      ? `there is no page ${page}: ${total} ${noun} on ${pages} pages\n`
      : `${above}${empty}\n`;
  });
  noteCut(context, part);
  return EXIT_OK;
}

/**
 * States on stderr that output for programs is incomplete. JSON and YAML contain the numbers, tables have a line for it.
 * @param note null: the output is complete.
 */
export function noteCut({ io, format }: CommandContext, note: string | null): void {
  if (note !== null && (format === 'tsv' || format === 'jsonl')) io.stderr.write(`cardpoll: ${note}\n`);
}

/** Prints all pages of a list. Lines and tables appear page by page; JSON and YAML are one document, held in memory. */
export async function printAll<Item>(
  context: CommandContext,
  pages: AsyncIterable<readonly Item[]>,
  look: PageLook<Item>,
): Promise<number> {
  if (context.format === 'json' || context.format === 'yaml') {
    const items: Item[] = [];
    for await (const page of pages) items.push(...page);
    const body = { items, page: 1, page_size: items.length, total: items.length };
    return printAnswer(context, ownAnswer(body), () => '');
  }
  await writeAllAsync(context.io, blocks(context, pages, look));
  return EXIT_OK;
}

/** Every page of a table has its own header and widths. */
async function* blocks<Item>(
  context: CommandContext,
  pages: AsyncIterable<readonly Item[]>,
  { table, empty, heading }: PageLook<Item>,
) {
  if (context.format === 'table') yield headingText(heading, await styleFor(context.io));
  let isEmpty = true;
  for await (const items of pages) {
    if (items.length === 0) continue;
    const text = await rendered(context, { body: { items }, text: '' }, ofItems(table));
    yield !isEmpty && context.format === 'table' ? `\n${text}` : text;
    isEmpty = false;
  }
  if (isEmpty && context.format === 'table') yield `${empty}\n`;
}

/** `20 of 38,984 changes (page 2 of 1,950): --page 3, or --all` */
function partText({ items, page, total }: PageBody<unknown>, pages: number, noun: string): string {
  const [shown, count, last] = [items.length, total, pages].map((value) => grouped(value));
  const where = page === 1 ? '' : ` (page ${page} of ${last})`;
  const next = page < pages ? `: --page ${page + 1}, or --all` : '';
  return `${shown} of ${count} ${noun}${where}${next}`;
}

function headingText(heading: string | null | undefined, style: Style): string {
  return heading ? dimmed(heading, style) : '';
}

export function dimmed(note: string, style: Style): string {
  return textOf(sentenceLines(note, style).map((line) => style.paint(line, 'dim')));
}

/** @returns the output of printAnswer as text. */
export async function rendered<Body>(
  { io, format, wide }: CommandContext,
  { body, text }: Answer<Body>,
  asTable: (body: Body, style: Style) => string,
): Promise<string> {
  switch (format) {
    case 'yaml':
      return (await import('yaml')).stringify(body);
    case 'jsonl':
      return jsonLines(body);
    case 'table':
      return inLocale(asTable(body, await styleFor(io, wide ? 'wide' : 'table')), io);
    case 'tsv':
      return asTable(body, await styleFor(io, 'tsv'));
    case 'json':
      if (io.stdout.isTTY === true) return `${JSON.stringify(body, null, 2)}\n`;
      return text.endsWith('\n') ? text : `${text}\n`;
    default:
      // A command that offers further formats prints them itself.
      throw new Error(`nothing prints ${format satisfies never}`);
  }
}

/** One line for each item of a list. A body that is not a list is one line. */
function jsonLines(body: unknown): string {
  const { items } = body as Partial<ItemsBody<unknown>>;
  return (Array.isArray(items) ? items : [body]).map((item) => `${JSON.stringify(item)}\n`).join('');
}

const BATCH_BYTES = 65_536;

/** Writes output of any size without holding all of it in memory. Rejects with the reason of io's interrupt signal. */
export async function writeAll(io: Io, pieces: Iterable<string | Buffer>): Promise<void> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
    batch.push(part);
    bytes += part.length;
    if (bytes < BATCH_BYTES) continue;
    await write(io, Buffer.concat(batch));
    batch = [];
    bytes = 0;
  }
  await write(io, Buffer.concat(batch));
}

/** Writes pieces as they arrive. */
export async function writeAllAsync(io: Io, pieces: AsyncIterable<string | Buffer>): Promise<void> {
  for await (const piece of pieces) await write(io, Buffer.from(piece));
}

async function write({ stdout, onInterrupt }: Io, bytes: Buffer): Promise<void> {
  const signal = onInterrupt();
  signal.throwIfAborted();
  try {
    if (!stdout.write(bytes)) await once(stdout, 'drain', { signal });
    // Files and pipes are written synchronously. Without a turn of the event loop Ctrl-C would wait for the end.
    await nextTurn();
  } finally {
    signal.throwIfAborted();
  }
}

/** Name, old and new value of a field that may have changed. */
export type Change = readonly [name: string, before: unknown, after: unknown];

/**
 * `realname: limit 100 -> 150, 1,000,000 cards`
 * @param cards number of affected cards; null: unknown.
 */
export function printChange(io: Io, what: string, changes: readonly Change[], cards: number | null): void {
  const changed = changes.filter(([, before, after]) => before !== after);
  const said = changed.map(([name, before, after]) => `${name} ${valueText(before)} -> ${valueText(after)}`);
  const concerned = cards === null ? [] : [`concerns ${cardCount(cards)}`];
  const facts = said.length === 0 ? ['nothing changed'] : [...said, ...concerned];
  io.stderr.write(`${plainText(`${what}: ${facts.join(', ')}`)}\n`);
}
