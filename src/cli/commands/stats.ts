// `cardpoll stats`: fleet statistics, once or with --watch.
import type { ApiClient } from '../../api/client/client.ts';
import { type Kind, oneOf } from '../../config/kinds.ts';
import { failureWord } from '../../domain/stats/failure-word.ts';
import { countWords } from '../../domain/words.ts';
import { CardpollError } from '../../platform/errors.ts';
import { EXIT_OK } from '../../platform/exit-codes.ts';
import type { FailuresBody, FailuresWithinBody } from '../../resources/stats.ts';
import type { ReaderClock } from '../../terminal/reports/shift-page.ts';
import {
  initStateFields,
  instanceColumns,
  overviewText,
  queueTable,
  taskTable,
} from '../../terminal/reports/stats-views.ts';
import type { Style } from '../../terminal/style.ts';
import { listTable, ofItems, renderTable } from '../../terminal/table.ts';
import { ask, showAnswer } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { ownAnswer, rendered } from '../output/print.ts';
import { PAST_TIME, pastRange } from '../past-time.ts';
import { readerClock } from '../reader-clock.ts';
import { WATCH_OPTION, watch } from '../watch.ts';

type Show = (context: CommandContext, client: ApiClient) => Promise<string>;

const SHOWN = {
  overview: async (context, client) => rendered(context, await client.overview(), overviewText),
  queues: async (context, client) => rendered(context, await client.queues(), ofItems(queueTable)),
  tasks: async (context, client) => rendered(context, await client.tasks(), ofItems(taskTable)),
  init: async (context, client) => rendered(context, await client.initProgress(), initStateFields),
  instances,
  failures: async (context, client) => rendered(context, await client.failures(), ofItems(failureText)),
} as const satisfies Readonly<Record<string, Show>>;

type View = keyof typeof SHOWN;
const USUAL = oneOf<View>(['overview', 'instances', 'failures']);
/** The overview and `cardpoll init` contain the other views, which scripts of former versions still use. */
const VIEW: Kind<View> = {
  ...USUAL,
  parse: (raw) => (typeof raw === 'string' && Object.hasOwn(SHOWN, raw) ? (raw as View) : USUAL.parse(raw)),
};

export const stats = defineCommand({
  name: 'stats',
  summary: 'Show health with its reasons, rates, failures and instances',
  examples: [
    'cardpoll stats  # the fleet at a glance',
    'cardpoll stats --watch=5  # every five seconds',
    'cardpoll stats -o wide  # with all columns',
    'cardpoll stats failures  # why polls fail, of which carriers, and for which cards',
    'cardpoll stats failures --since 01:00 --until 02:00  # how many failed in that time, by hour and carrier',
    'cardpoll stats -o json  # what the API says',
  ],
  arguments: [{ name: '[view]', doc: `${USUAL.choices?.join(', ')} (default: overview)`, kind: VIEW }],
  options: [
    WATCH_OPTION,
    {
      flags: '--since <time>',
      doc: 'with failures: those of a time, by hour and carrier, two days back at most: 2h, 02:00, yesterday',
      kind: PAST_TIME,
    },
    { flags: '--until <time>', doc: 'with --since: its end, exclusive (default: now)', kind: PAST_TIME },
  ],
  run: async (context, { args: [view = 'overview'], options }) => {
    const { since, until, said } = await pastRange(context, options);
    if (since !== undefined || until !== undefined) {
      if (view !== 'failures' || since === undefined) throw notOfAView();
      const clock = await readerClock(context);
      return showAnswer(
        context,
        'reading failures',
        (client) => client.failuresWithin({ since, until }),
        (body, style) => failuresWithinText(body, style, clock, said),
      );
    }
    const read = (client: ApiClient) => SHOWN[view](context, client);
    if (options.watch !== undefined) return watch(context, options.watch, read);
    context.io.stdout.write(await ask(context, 'reading statistics', read));
    return EXIT_OK;
  },
});

/** The API sends the instances with the overview; as JSON they are a separate list. */
async function instances(context: CommandContext, client: ApiClient): Promise<string> {
  const { body } = await client.overview();
  return rendered(context, ownAnswer({ items: body.workers }), ({ items }, style) => {
    return style.forPeople && items.length === 0
      ? 'no instance is alive: cardpoll daemon\n'
      : renderTable(items, instanceColumns(style), style);
  });
}

type OfTask<Row> = Row & { readonly task: string };

function inOneList<Row>(items: readonly FailuresBody[], pick: (item: FailuresBody) => readonly Row[]) {
  return items.flatMap((item) => pick(item).map((row) => ({ ...row, task: item.task_type })));
}

/** Number of items per task type in a table that must fit a terminal. */
const A_FEW = 4;

/** Reasons, failing carriers and failing cards of each task type; as records only the failing cards. */
function failureText(items: readonly FailuresBody[], style: Style): string {
  const cards = inOneList(items, (item) => item.cards);
  if (!style.forPeople) return cardTable(cards, style);
  const reasons = inOneList(items, (item) => item.reasons);
  if (reasons.length === 0 && cards.length === 0) {
    return 'no poll failed in the last five minutes, and no card is failing\n';
  }
  const carriers = inOneList(items, (item) => item.carriers);
  const failing = items.reduce((sum, { failing_cards: count }) => sum + count, 0);
  const few = inOneList(items, (item) =>
    item.cards.slice(0, style.layout.columns === null ? undefined : A_FEW),
  );
  const shown = few.length < failing ? `, the latest ${style.number(few.length).text}` : '';
  const more = few.length < cards.length ? ' (more: -o wide)' : '';
  return [
    reasons.length === 0 ? 'no poll failed in the last five minutes\n' : reasonTable(reasons, style),
    ...(carriers.length === 0 ? [] : [carrierTable(carriers, style)]),
    `${countWords(failing, 'failing card')}${shown}${more}\n`,
    few.length === 0 ? '' : cardTable(few, style),
  ].join('\n');
}

function notOfAView(): CardpollError {
  return new CardpollError('usage', 'time_of_no_view', '--since and --until are for the failures of a time', {
    hint: 'cardpoll stats failures --since 2h',
  });
}

function failuresWithinText(
  { items, since, kept_from: from }: FailuresWithinBody,
  style: Style,
  clock: ReaderClock,
  said: string | null,
): string {
  if (!style.forPeople) return hourTable(({ at }) => at)(items, style);
  const note = from === null ? '' : `polls are counted from ${clock.full(from)} on\n`;
  // The first hour may have begun before the time that is asked for.
  const hours = hourTable(({ at }) => clock.full(Date.parse(at) < Date.parse(since) ? since : at));
  return `${said}\n${note}${items.length === 0 ? 'no poll failed in this time\n' : hours(items, style)}`;
}

const hourTable = (hour: (row: FailuresWithinBody['items'][number]) => string) =>
  listTable<FailuresWithinBody['items'][number]>((style) => [
    { header: 'HOUR', cell: (row) => ({ text: hour(row) }) },
    { header: 'TASK', cell: ({ task_type }) => style.text(task_type) },
    { header: 'CARRIER', cell: ({ carrier_id: id }) => style.text(id === null ? 'others' : String(id)) },
    { header: 'POLLS', cell: ({ polls }) => style.number(polls) },
    { header: 'FAILED', cell: ({ failed }) => style.number(failed) },
    { header: 'FAILED %', cell: ({ failed_percent: percent }) => style.percent(percent) },
  ]);

const reasonTable = listTable<OfTask<FailuresBody['reasons'][number]>>((style) => [
  { header: 'TASK', cell: ({ task }) => style.text(task) },
  { header: 'FAILURES 5MIN', cell: ({ count }) => style.number(count) },
  { header: 'REASON', cell: ({ reason }) => style.text(failureWord(reason)), least: 12 },
]);

const carrierTable = listTable<OfTask<FailuresBody['carriers'][number]>>((style) => [
  { header: 'TASK', cell: ({ task }) => style.text(task) },
  { header: 'CARRIER', cell: (carrier) => style.id(carrier.carrier_id) },
  { header: 'POLLS 5MIN', cell: (carrier) => style.number(carrier.polls) },
  { header: 'FAILED', cell: (carrier) => style.number(carrier.failed) },
  { header: 'FAILED %', cell: (carrier) => style.percent(carrier.failed_percent) },
]);

const cardTable = listTable<OfTask<FailuresBody['cards'][number]>>((style) => [
  { header: 'TASK', cell: ({ task }) => style.text(task) },
  { header: 'CARD', cell: (card) => style.id(card.card_id) },
  { header: 'FAILED', cell: (card) => style.time(card.at), drop: 4 },
  { header: 'REASON', cell: (card) => style.text(failureWord(card.reason)), least: 10 },
  { header: 'IN A ROW', cell: (card) => style.number(card.attempts), drop: 2 },
  { header: 'MS', cell: (card) => style.number(card.duration_ms), drop: 1 },
  { header: 'MESSAGE', cell: (card) => style.text(card.message), least: 32, drop: 3 },
]);
