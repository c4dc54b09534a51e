// `cardpoll cards list` and `export`: cards in id order, one page or all of them.
import type { CardListBody, CardQuery } from '../../../api/client/client-bodies.ts';
import { integer, oneOf } from '../../../config/kinds.ts';
import { CARD_ID_BOUNDS, SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import { LIST_LIMIT_BOUNDS } from '../../../domain/page.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, defineCommand, type OptionSpec } from '../../command.ts';
import { EXIT_OK } from '../../exit-codes.ts';
import { dimmed, noteCut, printAnswer, writeAllAsync } from '../../output/print.ts';
import { cardTable } from '../../output/reports/card-fields.ts';
import type { Style } from '../../output/style.ts';

const YES_NO = ['yes', 'no'] as const;
const EXPORT_FORMATS = ['csv', 'jsonl'] as const;

interface FilterOptions {
  readonly carrierId?: number;
  readonly status?: number;
  readonly stopped?: (typeof YES_NO)[number];
}

const FILTER_OPTIONS: readonly OptionSpec[] = [
  { flags: '--carrier-id <n>', doc: 'only cards of this carrier', kind: integer(SELECTION_BOUNDS) },
  { flags: '--status <n>', doc: 'only cards with this status', kind: integer(SELECTION_BOUNDS) },
  {
    flags: '--stopped <yes|no>',
    doc: 'only cards that are stopped, or only those that are not',
    kind: oneOf(YES_NO),
  },
];

function queryOf({ carrierId, status, stopped }: FilterOptions): CardQuery {
  return {
    carrier_id: carrierId ?? null,
    status: status ?? null,
    stopped: stopped === undefined ? null : stopped === 'yes',
  };
}

interface ListOptions extends FilterOptions {
  readonly afterId: number;
  readonly limit: number;
}

export const list = defineCommand<[], ListOptions>({
  name: 'list',
  summary: 'Show cards in id order',
  examples: [
    ['cardpoll cards list --carrier-id 7', 'the first cards of a carrier'],
    ['cardpoll cards list --stopped yes --after-id 4711', 'stopped cards after card 4711'],
    ['cardpoll cards list --status 2 --limit 1000 -o jsonl', 'for programs'],
  ],
  options: [
    ...FILTER_OPTIONS,
    {
      flags: '--after-id <n>',
      doc: 'only cards with a higher card id',
      kind: integer({ min: 0, max: CARD_ID_BOUNDS.max }),
      default: 0,
    },
    {
      flags: '--limit <n>',
      doc: `number of cards to show, 1 to ${LIST_LIMIT_BOUNDS.max}`,
      kind: integer(LIST_LIMIT_BOUNDS),
      default: 20,
    },
  ],
  run: async (context, { options }) => {
    const body = await matching(context, queryOf(options), options);
    await printAnswer(context, { body, text: JSON.stringify(body) }, listText);
    noteCut(context, moreText(body));
    return EXIT_OK;
  },
});

/** One request scans a limited number of cards, however few match, so it is repeated until there are enough. */
async function matching(
  context: CommandContext,
  query: CardQuery,
  { afterId, limit }: ListOptions,
): Promise<CardListBody> {
  return ask(context, 'looking for cards', async (client) => {
    const items: CardListBody['items'][number][] = [];
    let next: number | null = afterId;
    while (next !== null && items.length < limit) {
      const { body }: { body: CardListBody } = await client.cards(query, next, limit - items.length);
      items.push(...body.items);
      next = body.next_after_id;
    }
    return { items, next_after_id: next };
  });
}

function listText(body: CardListBody, style: Style): string {
  const { items } = body;
  if (!style.forPeople) return cardTable(items, style);
  if (items.length === 0) return 'no card matches; to import cards: cardpoll cards import FILE\n';
  const more = moreText(body);
  return cardTable(items, style) + (more === null ? '' : dimmed(more, style));
}

/** How many there are in all is not counted. */
function moreText({ items, next_after_id: next }: CardListBody): string | null {
  if (next === null) return null;
  return `${items.length} cards, and there are more: --after-id ${next}, or all: cardpoll cards export`;
}

interface ExportOptions extends FilterOptions {
  readonly output?: (typeof EXPORT_FORMATS)[number];
  readonly json?: boolean;
}

export const exportCards = defineCommand<[], ExportOptions>({
  name: 'export',
  summary: 'Print cards in the format of an import',
  examples: [
    ['cardpoll cards export > cards.csv', 'the whole fleet'],
    ['cardpoll cards export --carrier-id 7 -o jsonl', 'one JSON object per line'],
    ['cardpoll cards export --stopped yes | cut -d, -f2', 'iccids of stopped cards'],
  ],
  options: FILTER_OPTIONS,
  formats: EXPORT_FORMATS,
  run: async (context, { options }) => {
    const client = await context.client();
    const format = options.output === 'jsonl' || options.json === true ? 'ndjson' : 'csv';
    await writeAllAsync(context.io, client.exportCards(queryOf(options), format));
    return EXIT_OK;
  },
});
