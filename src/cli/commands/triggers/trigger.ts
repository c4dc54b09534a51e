// `cardpoll trigger`: `single`, `batch` and `by-condition` poll cards now; trigger-progress.ts lists, follows and cancels
// triggers.
import { readFile } from 'node:fs/promises';
import { integer, listOf, oneOf, parseOr, text } from '../../../config/kinds.ts';
import { CARD_ID_BOUNDS, MAX_BATCH_CARDS, SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { cardCount } from '../../../domain/words.ts';
import { CardpollError, unreadableText } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE } from '../../../platform/exit-codes.ts';
import type { BatchBody, TriggerBody } from '../../../resources/triggers.ts';
import { answerFields, failureFields } from '../../../terminal/reports/card-fields.ts';
import { someIds } from '../../../terminal/style.ts';
import type { FieldsOf } from '../../../terminal/table.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand, type OptionSpec } from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { cancel, list, selectionText, showTrigger, status, WAIT_OPTION } from './trigger-progress.ts';

const TASK = {
  flags: '--task <task_type>',
  doc: TASK_TYPES.join(', '),
  kind: oneOf(TASK_TYPES),
  required: true,
} as const satisfies OptionSpec;
const CARD_ID = integer(CARD_ID_BOUNDS);

const single = defineCommand({
  name: 'single',
  summary: 'Poll one card now',
  examples: [
    'cardpoll trigger single --card-id 42 --task realname  # check its verification now',
    'cardpoll trigger single --iccid 89860012345678901234 --task carddata --wait  # and wait for the answer',
    'cardpoll trigger single --card-id 42 --task package -o json  # the trigger for programs',
  ],
  options: [
    { flags: '--card-id <n>', doc: 'card id', kind: CARD_ID },
    { flags: '--iccid <digits>', doc: 'iccid instead of the card id, 18 to 22 digits', kind: text('iccid') },
    TASK,
    WAIT_OPTION,
  ],
  run: async (context, { options }) => {
    const cardId = await readCardId(context, options.cardId, options.iccid);
    const trigger = await ask(context, 'queueing the card', (client) =>
      client.triggerSingle(options.task, cardId),
    );
    return showTrigger(context, trigger, options, (body) => outcomeIfKnown(context, cardId, body));
  },
});

async function readCardId(context: CommandContext, cardId: number | undefined, iccid: string | undefined) {
  if ((cardId === undefined) === (iccid === undefined)) {
    throw new CardpollError('usage', 'card_missing', 'give either --card-id or --iccid');
  }
  if (cardId !== undefined) return cardId;
  const { body } = await ask(context, 'reading the card', (client) => client.card(iccid ?? ''));
  return body.card_id;
}

/** The poll is over even if this request fails: then only the trigger is shown. */
async function outcomeIfKnown(
  context: CommandContext,
  cardId: number,
  trigger: TriggerBody,
): Promise<FieldsOf> {
  try {
    return await readOutcome(context, cardId, trigger);
  } catch (error) {
    if (!(error instanceof CardpollError)) throw error;
    context.io.stderr.write(`cardpoll: the result of the poll cannot be shown: ${error.message}\n`);
    return () => [];
  }
}

/** The gateway's report about the card, or why the poll failed. */
async function readOutcome(
  context: CommandContext,
  cardId: number,
  { task_type: task, failed, succeeded }: TriggerBody,
): Promise<FieldsOf> {
  if (succeeded > 0) {
    const { body } = await ask(context, 'reading the card', (client) => client.card(String(cardId)));
    return (style) => answerFields(task, body, style);
  }
  if (failed === 0) return () => [];
  const { body } = await ask(context, 'reading the failure', (client) => client.explain(String(cardId)));
  const failure = body.tasks.find((one) => one.task_type === task)?.last_failure ?? null;
  return (style) => failureFields(failure, style);
}

const batch = defineCommand({
  name: 'batch',
  summary: `Poll up to ${MAX_BATCH_CARDS} cards now; exit code 1 if a card does not exist`,
  examples: [
    'cardpoll trigger batch --card-ids 1,2,3 --task package  # three cards',
    'cardpoll trigger batch --file ids.txt --task package  # card ids from a file',
    'cardpoll trigger batch --file ids.txt --task package --wait  # and wait: exit code 1 if a poll failed',
  ],
  options: [
    { flags: '--card-ids <ids>', doc: 'card ids, comma separated', kind: listOf(CARD_ID) },
    {
      flags: '--file <path>',
      doc: 'file with card ids, one per line or comma separated',
      kind: text('path'),
    },
    TASK,
    WAIT_OPTION,
  ],
  run: async (context, { options }) => {
    const cardIds = await readCardIds(options.cardIds, options.file);
    const answer = await ask(context, 'queueing the cards', (client) =>
      client.triggerBatch(options.task, cardIds),
    );
    printUnknown(context, answer.body);
    const code = await showTrigger(context, answer, options);
    return answer.body.unknown_card_ids.length > 0 ? EXIT_NEGATIVE : code;
  },
});

async function readCardIds(cardIds: readonly number[] | undefined, file: string | undefined) {
  if ((cardIds === undefined) === (file === undefined)) {
    throw new CardpollError('usage', 'card_ids_missing', 'give either --card-ids or --file');
  }
  const ids = cardIds ?? (await readIds(file ?? ''));
  if (ids.length > MAX_BATCH_CARDS) {
    throw new CardpollError(
      'bad_data',
      'too_many_cards',
      `${ids.length} card ids are more than ${MAX_BATCH_CARDS}`,
      { hint: 'split the list, or select the cards with `cardpoll trigger by-condition`' },
    );
  }
  return ids;
}

async function readIds(file: string): Promise<number[]> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (error) {
    throw new CardpollError('input_missing', 'file_unreadable', unreadableText(file, error), {
      cause: error,
    });
  }
  const ids = new Set<number>();
  for (const [index, line] of content
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    for (const word of line.split(/[\s,;]+/).filter((part) => part !== '')) {
      const toError = (problem: string) =>
        new CardpollError('bad_data', 'bad_card_id', `${file}, line ${index + 1}: ${problem}`);
      ids.add(parseOr(() => CARD_ID.parse(word), toError));
    }
  }
  if (ids.size === 0) throw new CardpollError('bad_data', 'no_card_ids', `there are no card ids in ${file}`);
  return [...ids];
}

/** Unknown card ids are not part of the result, so they go to stderr. */
function printUnknown({ io }: CommandContext, { unknown_card_ids: unknown }: BatchBody): void {
  if (unknown.length > 0) io.stderr.write(`cardpoll: there is no card ${someIds(unknown)}\n`);
}

const byCondition = defineCommand({
  name: 'by-condition',
  summary: 'Poll all cards of a carrier, a status or both now; without a condition, the whole fleet',
  examples: [
    'cardpoll trigger by-condition --task carddata --carrier-id 7  # shows how many cards, then asks',
    'cardpoll trigger by-condition --task carddata --status 1 --dry-run  # shows how many cards',
    'cardpoll trigger by-condition --task realname --carrier-id 7 --status 1 --yes --wait  # for scripts',
  ],
  options: [
    TASK,
    { flags: '--carrier-id <n>', doc: 'cards of this carrier', kind: integer(SELECTION_BOUNDS) },
    { flags: '--status <n>', doc: 'cards with this status', kind: integer(SELECTION_BOUNDS) },
    ...CONFIRM_OPTIONS,
    WAIT_OPTION,
  ],
  run: async (context, { options }) => {
    const selection = { carrier_id: options.carrierId ?? null, status: options.status ?? null };
    const plan = () => askForPlan(context, options.task, selection);
    await confirm(context, plan, options);
    const trigger = await ask(context, 'queueing the cards', (client) =>
      client.triggerByCondition(options.task, { carrier_id: options.carrierId, status: options.status }),
    );
    return showTrigger(context, trigger, options);
  },
});

async function askForPlan(
  context: CommandContext,
  task: TaskType,
  selection: NonNullable<TriggerBody['selection']>,
): Promise<string[]> {
  const { body } = await ask(context, 'counting', (client) => client.countSelected(selection));
  const count = `${body.estimated ? 'about ' : ''}${cardCount(body.matching)}`;
  return [
    `Poll ${task} of ${selectionText(selection)} now: ${count}.`,
    'They share the concurrency limit of the task type with the schedule, half and half.',
  ];
}

export const trigger: CommandSpec = {
  name: 'trigger',
  summary: 'Poll cards now, outside the schedule',
  examples: [
    'cardpoll trigger single --card-id 42 --task realname --wait  # poll one card now',
    'cardpoll trigger by-condition --task carddata --carrier-id 7  # all cards of a carrier; asks first',
    'cardpoll trigger list  # recent triggers and their progress',
  ],
  subcommands: [single, batch, byCondition, cancel, status, list],
};
