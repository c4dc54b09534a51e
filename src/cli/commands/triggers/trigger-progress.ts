// `cardpoll trigger list`, `status` and `cancel`: shows manual triggers, many as a table, one as fields; with --wait, after
// it has finished.
import type { Answer } from '../../../api/client/client-calls.ts';
import { oneOf, text } from '../../../config/kinds.ts';
import { EARLY_COUNTED } from '../../../domain/manual-trigger.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { cardCount, grouped } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../../platform/exit-codes.ts';
import type { CancelledTriggersBody, TriggerBody } from '../../../resources/triggers.ts';
import { TRIGGER_COLOURS, triggerColumns } from '../../../terminal/reports/trigger-table.ts';
import type { Style } from '../../../terminal/style.ts';
import { type Field, type FieldsOf, fieldList, listTable, renderFields } from '../../../terminal/table.ts';
import { ask, pageOptions, showAnswer, showPages, showUnlessOver } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand, type OptionSpec } from '../../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm } from '../../confirm.ts';
import { follow, type WaitOptions } from '../../follow.ts';
import { namesIn } from '../../named.ts';
import { printAnswer } from '../../output/print.ts';
import { ProgressBar } from '../../output/progress-bar.ts';

const TRIGGER_ID = {
  name: '<trigger_id>',
  doc: 'id of the trigger, from `cardpoll trigger list`',
  kind: text('trigger id'),
  names: namesIn(
    (client) => client.triggers(1, 20),
    ({ trigger_id: id }) => id,
  ),
} as const satisfies ArgumentSpec;

export const WAIT_OPTION = {
  flags: '--wait',
  doc: 'wait until all cards are polled; exit code 1 if one failed or the trigger was cancelled',
} as const satisfies OptionSpec;

export const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel a trigger, or all: drop the waiting cards; exit code 1 if it has already finished',
  examples: [
    'cardpoll trigger cancel 5f0c2a9be17d4c33  # its waiting cards leave the manual list at once',
    'cardpoll trigger cancel --all  # shows how many are open, then asks',
    'cardpoll trigger cancel --all --task carddata --yes  # those of one task type, for scripts',
  ],
  arguments: [{ ...TRIGGER_ID, name: '[trigger_id]' }],
  options: [
    { flags: '--all', doc: 'cancel all open triggers' },
    {
      flags: '--task <task_type>',
      doc: 'with --all: only triggers of this task type',
      kind: oneOf(TASK_TYPES),
    },
    ...CONFIRM_OPTIONS,
  ],
  run: async (context, { args: [triggerId], options }) => {
    if ((triggerId === undefined) !== (options.all === true)) {
      throw new CardpollError('usage', 'trigger_missing', 'give either a trigger id or --all');
    }
    if (triggerId === undefined) return cancelAll(context, options);
    if (options.task !== undefined || options.dryRun === true) {
      throw new CardpollError('usage', 'trigger_named', '--task and --dry-run need --all');
    }
    return showUnlessOver(context, 'cancelling', (client) => client.cancelTrigger(triggerId), triggerFields);
  },
});

async function cancelAll(context: CommandContext, options: ConfirmOptions & { readonly task?: TaskType }) {
  await confirm(context, () => cancellationPlan(context, options.task), options);
  return showAnswer(
    context,
    'cancelling',
    (client) => client.cancelTriggers(options.task, false),
    cancelledFields,
  );
}

async function cancellationPlan(context: CommandContext, task: TaskType | undefined): Promise<string[]> {
  const { body } = await ask(context, 'counting', (client) => client.cancelTriggers(task, true));
  const counts = `${grouped(body.triggers)}, with ${cardCount(body.cards)} to poll`;
  const of = task === undefined ? '' : ` of ${task}`;
  return [`Cancel all open triggers${of}: ${counts}.`, 'Cards that are being polled are finished.'];
}

export const status = defineCommand({
  name: 'status',
  summary: 'Show the progress of a trigger',
  examples: [
    'cardpoll trigger status 5f0c2a9be17d4c33  # counts of waiting, succeeded and failed cards',
    'cardpoll trigger status 5f0c2a9be17d4c33 --wait  # wait until it has finished',
    'cardpoll trigger status 5f0c2a9be17d4c33 -o json  # what the API says',
  ],
  arguments: [TRIGGER_ID],
  options: [WAIT_OPTION],
  run: async (context, { args: [triggerId], options }) => {
    const trigger = await ask(context, 'reading the trigger', (client) => client.trigger(triggerId));
    return showTrigger(context, trigger, options);
  },
});

export const list = defineCommand({
  name: 'list',
  summary: 'Show manual triggers, newest first',
  isDefault: true,
  examples: [
    'cardpoll trigger list  # the latest 20',
    'cardpoll trigger list --page 2  # the 20 before them',
    'cardpoll trigger list --page 2 --page-size 100 -o json  # further back, for programs',
  ],
  options: pageOptions(20),
  run: (context, { options }) =>
    showPages(context, options, {
      label: 'reading triggers',
      read: (client, page, pageSize) => client.triggers(page, pageSize),
      keyOf: ({ trigger_id }) => trigger_id,
      table: listTable(triggerColumns),
      noun: 'triggers',
      empty: 'no triggers yet: cardpoll trigger single --card-id 42 --task realname --wait',
    }),
});

/**
 * Shows a trigger; with --wait, after it has finished.
 * @param trigger the latest answer of the daemon.
 * @param outcomeOf called when the trigger has finished. @returns the exit code.
 */
export async function showTrigger(
  context: CommandContext,
  trigger: Answer<TriggerBody>,
  { wait }: WaitOptions,
  outcomeOf: (trigger: TriggerBody) => Promise<FieldsOf> = async () => () => [],
): Promise<number> {
  const answer = wait === true && !isOver(trigger.body) ? await untilOver(context, trigger.body) : trigger;
  const outcome = wait === true && context.format === 'table' ? await outcomeOf(answer.body) : () => [];
  await printAnswer(context, answer, (body, style) => triggerFields(body, style, outcome(style)));
  const { status, failed } = answer.body;
  return wait === true && (failed > 0 || status === 'cancelled') ? EXIT_NEGATIVE : EXIT_OK;
}

function untilOver(context: CommandContext, { trigger_id: triggerId, total }: TriggerBody) {
  const bar = new ProgressBar(context.io, 'polling', total);
  return follow(context, {
    bar,
    read: (client) => client.trigger(triggerId),
    isDone: (body) => {
      bar.update(body.succeeded + body.failed, earlyNote(body));
      return isOver(body);
    },
    whatContinues:
      `trigger ${triggerId} continues: \`cardpoll trigger status ${triggerId} --wait\` follows it, ` +
      `\`cardpoll trigger cancel ${triggerId}\` cancels it`,
  });
}

/** Explains why no polls are visible while the gateway does not allow them yet. */
function earlyNote({ early, early_until: until }: TriggerBody): string {
  if (until === null) return '';
  const time = new Date(until).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return `${grouped(early)} too early until ${time}`;
}

function isOver({ status }: TriggerBody): boolean {
  return status === 'completed' || status === 'cancelled';
}

/** @param outcome the result of the poll, once it is known. */
function triggerFields(trigger: TriggerBody, style: Style, outcome: readonly Field[] = []): string {
  return renderFields(
    [
      ['trigger', style.text(trigger.trigger_id)],
      ['kind', style.text(trigger.kind)],
      ['task', style.text(trigger.task_type)],
      ...(trigger.selection === null
        ? []
        : [['cards', style.text(selectionText(trigger.selection))] as const]),
      ['status', style.text(trigger.status, TRIGGER_COLOURS[trigger.status])],
      ['total', style.estimate(trigger.total, trigger.total_estimated)],
      ['waiting', style.number(trigger.waiting)],
      ...(trigger.early === 0 ? [] : earlyFields(trigger, style)),
      ['running', style.number(trigger.running)],
      ['succeeded', style.number(trigger.succeeded)],
      ['failed', style.failures(trigger.failed)],
      ['created', style.time(trigger.created_at)],
      ['finished', style.time(trigger.finished_at)],
      ...outcome,
    ],
    style,
  );
}

const cancelledFields = fieldList<CancelledTriggersBody>(({ triggers, cards }, style) => [
  ['cancelled triggers', style.number(triggers)],
  ['cards not polled', style.number(cards)],
]);

export function selectionText(selection: NonNullable<TriggerBody['selection']>): string {
  const parts = [
    ...(selection.carrier_id === null ? [] : [`carrier ${selection.carrier_id}`]),
    ...(selection.status === null ? [] : [`status ${selection.status}`]),
  ];
  return parts.length === 0 ? 'the whole fleet' : `every card with ${parts.join(' and ')}`;
}

function earlyFields({ early, early_until: until }: TriggerBody, style: Style): Field[] {
  const cards = style.number(early);
  const isMore = early === EARLY_COUNTED && style.forPeople;
  return [
    ['too early', isMore ? { ...cards, text: `${cards.text} or more` } : cards],
    ['the last until', style.time(until)],
  ];
}
