// `cardpoll cards`: shows, stops and resumes one card; lists and exports cards in id order, one page or all of them.
// cards-import.ts imports cards.
import type { ApiClient } from '../../../api/client/client.ts';
import { integer, oneOf, text } from '../../../config/kinds.ts';
import { FILTER_FIELDS } from '../../../domain/cards/card-filter.ts';
import { CARD_ID_BOUNDS, SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import { LIST_LIMIT_BOUNDS } from '../../../domain/page.ts';
import { cardCount } from '../../../domain/words.ts';
import { EXIT_OK } from '../../../platform/exit-codes.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';
import type { CardListBody, CardQuery } from '../../../resources/cards.ts';
import type { OrderedStopBody } from '../../../resources/stops.ts';
import { cardFields, cardTable } from '../../../terminal/reports/card-fields.ts';
import type { Style } from '../../../terminal/style.ts';
import { fieldList } from '../../../terminal/table.ts';
import { ask, showAnswer } from '../../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand, type OptionSpec } from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { follow } from '../../follow.ts';
import { dimmed, noteCut, printAnswer, writeAllAsync } from '../../output/print.ts';
import { REASON_OPTION, resumeOrderOf, STOP_AGAIN_OPTION } from '../stops/stop-options.ts';
import { RUN_WAIT_OPTION, showRun } from '../stops/stops-resume.ts';
import { importCards } from './cards-import.ts';
import { CARD_ARGUMENT, explainCard } from './explain.ts';

const show = defineCommand({
  name: 'show',
  summary: 'Show a card: its data, its last stop, its last polls and its next ones',
  arguments: [CARD_ARGUMENT],
  options: [{ flags: '-v, --verbose', doc: 'show why it is or is not polled, as explain does' }],
  run: (context, { args: [card], options }) => {
    if (options.verbose === true) return explainCard(context, card);
    const doing = 'reading the card';
    if (context.format !== 'table')
      return showAnswer(context, doing, (client) => client.card(card), cardFields);
    // Only the explanation has the stops of the card, and the gateway's offers.
    const read = (client: ApiClient) => client.explain(card);
    return showAnswer(context, doing, read, (body, style) => cardFields(body.card, style, body));
  },
});

const stopCard = defineCommand({
  name: 'stop',
  summary: 'Stop a card, whatever it has used; asks first',
  examples: [
    'cardpoll cards stop 42 --reason "stolen"  # by card id; it is stopped within seconds',
    'cardpoll cards stop 89860012345678901234 --reason "stolen" --wait  # by iccid, and wait for it',
    'cardpoll cards resume 42 --reason "found again"  # the way back',
  ],
  arguments: [CARD_ARGUMENT],
  options: [
    REASON_OPTION,
    { flags: '--wait', doc: 'wait until the gateway shows the card stopped' },
    ...CONFIRM_OPTIONS,
  ],
  run: async (context, { args: [card], options }) => {
    await confirm(context, () => stopPlan(context, card), options);
    const answer = await ask(context, 'ordering the stop', (client) => client.stopCard(card, options.reason));
    if (options.wait !== true) {
      return printAnswer(context, answer, orderedStopFields);
    }
    const stopped = await follow(context, {
      read: (client) => client.card(card),
      isDone: (body) => body.stopped,
      whatContinues: `the stop of card ${card} stays ordered: \`cardpoll cards show ${card}\` shows whether it is stopped`,
    });
    return printAnswer(context, stopped, cardFields);
  },
});

async function stopPlan(context: CommandContext, card: string): Promise<string[]> {
  const { body } = await ask(context, 'reading the card', (client) => client.card(card));
  const carrier = body.carrier_id === null ? '' : ` of carrier ${body.carrier_id}`;
  return [
    `Stop card ${body.card_id}${carrier}, iccid ${body.iccid}.`,
    'Its customer is cut off until the card is resumed.',
  ];
}

const resumeCard = defineCommand({
  name: 'resume',
  summary: 'Resume a card; exit code 1 if it already waits to be resumed',
  examples: [
    'cardpoll cards resume 42 --reason "customer paid"  # it runs again within seconds',
    'cardpoll cards resume 42 --reason "customer paid" --wait  # and wait for it',
    'cardpoll stops runs  # runs and their progress',
  ],
  arguments: [CARD_ARGUMENT],
  options: [REASON_OPTION, STOP_AGAIN_OPTION, RUN_WAIT_OPTION],
  run: async (context, { args: [card], options }) => {
    const order = resumeOrderOf(options);
    const run = await ask(context, 'making the run', (client) => client.resumeCard(card, order));
    return showRun(context, run, options);
  },
});

const orderedStopFields = fieldList<OrderedStopBody>((body, style) => [
  ['card', style.id(body.card_id)],
  ['state', style.text(body.state)],
]);

const VALUES = {
  id: ['<n>', integer(SELECTION_BOUNDS)],
  yesNo: ['<yes|no>', oneOf(['yes', 'no'])],
  text: ['<text>', text('text')],
} as const;

const FILTER_OPTIONS = FILTER_FIELDS.map(([field, { value, doc }]): OptionSpec => {
  const [word, kind] = VALUES[value];
  return { flags: `--${snakeCase(field).replaceAll('_', '-')} ${word}`, doc, kind };
});

function queryOf(options: Readonly<Record<string, unknown>>): CardQuery {
  const given = FILTER_FIELDS.filter(([field]) => options[field] !== undefined);
  return Object.fromEntries(
    given.map(([field, { value }]) => [
      snakeCase(field),
      value === 'yesNo' ? options[field] === 'yes' : options[field],
    ]),
  );
}

const list = defineCommand({
  name: 'list',
  summary: 'Show cards in id order',
  isDefault: true,
  examples: [
    'cardpoll cards list --carrier-id 7  # the first cards of a carrier',
    'cardpoll cards list --stopped yes --after-id 4711  # stopped cards after card 4711',
    'cardpoll cards list --status 2 --limit 1000 -o jsonl  # for programs',
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
    const body = await matching(context, queryOf(options), options.afterId, options.limit);
    const isAll = Object.keys(queryOf(options)).length === 0 && options.afterId === 0;
    await printAnswer(context, { body, text: JSON.stringify(body) }, (shown, style) =>
      listText(shown, style, isAll ? 'there is no card yet: cardpoll cards import FILE' : 'no card matches'),
    );
    noteCut(context, moreText(body));
    return EXIT_OK;
  },
});

/** One request scans a limited number of cards, however few match, so it is repeated until there are enough. */
async function matching(context: CommandContext, query: CardQuery, afterId: number, limit: number) {
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

/** @param empty text for an empty list. */
function listText(body: CardListBody, style: Style, empty: string): string {
  const { items } = body;
  if (!style.forPeople) return cardTable(items, style);
  if (items.length === 0) return `${empty}\n`;
  const more = moreText(body);
  return cardTable(items, style) + (more === null ? '' : dimmed(more, style));
}

/** The total is not counted, so it is unknown whether more cards follow the last one. */
function moreText({ items, next_after_id: next }: CardListBody): string | null {
  if (next === null) return null;
  return `${cardCount(items.length)}, and there may be more: --after-id ${next}, or all: cardpoll cards export`;
}

const exportCards = defineCommand({
  name: 'export',
  summary: 'Print cards in the format of an import',
  examples: [
    'cardpoll cards export > cards.csv  # the whole fleet',
    'cardpoll cards export --carrier-id 7 -o jsonl  # one JSON object per line',
    'cardpoll cards export --stopped yes | cut -d, -f2  # iccids of stopped cards',
  ],
  options: FILTER_OPTIONS,
  formats: ['csv', 'jsonl'],
  run: async (context, { options }) => {
    const client = await context.client();
    const format = context.format === 'jsonl' ? 'ndjson' : 'csv';
    await writeAllAsync(context.io, client.exportCards(queryOf(options), format));
    return EXIT_OK;
  },
});

export const cards: CommandSpec = {
  name: 'cards',
  summary: 'Import, show, list and export cards, stop or resume one',
  examples: [
    'cardpoll cards import cards.csv  # CSV or NDJSON; safe to repeat',
    'cardpoll cards show 89860012345678901234  # by iccid',
    'cardpoll cards list --stopped yes  # stopped cards',
  ],
  subcommands: [importCards, show, list, exportCards, stopCard, resumeCard],
};
