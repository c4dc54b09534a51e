// `cardpoll trigger`: manual triggers. trigger-make.ts creates them; this file lists, follows and cancels them.
import { oneOf, text } from '../../../config/kinds.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { ask, type PageOptions, pageOptions, showAnswer, showPages, showUnlessOver } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm, declined } from '../../confirm.ts';
import {
  cancelledFields,
  showTrigger,
  triggerFields,
  triggerTable,
  WAIT_OPTION,
  type WaitOptions,
} from '../../follow-trigger.ts';
import { cardCount } from '../../output/style.ts';
import { batch, byCondition, single } from './trigger-make.ts';

const EXAMPLES = [
  ['cardpoll trigger single --card-id 42 --task realname --wait', 'poll one card now'],
  ['cardpoll trigger by-condition --task carddata --carrier-id 7', 'all cards of a carrier; asks first'],
  ['cardpoll trigger list', 'recent triggers and their progress'],
] as const;

const TRIGGER_ID: ArgumentSpec = {
  name: '<trigger_id>',
  doc: 'id of the trigger, from `cardpoll trigger list`',
  kind: text('trigger id'),
  names: 'triggers',
};

interface CancelOptions extends ConfirmOptions {
  readonly all?: boolean;
  readonly task?: TaskType;
}

const cancel = defineCommand<[string?], CancelOptions>({
  name: 'cancel',
  summary: 'Cancel a trigger, or all: drop the waiting cards; exit code 1 if it has already finished',
  examples: [
    ['cardpoll trigger cancel 5f0c2a9be17d4c33', 'its waiting cards leave the manual list at once'],
    ['cardpoll trigger cancel --all', 'shows how many are open, then asks'],
    ['cardpoll trigger cancel --all --task carddata --yes', 'those of one task type, for scripts'],
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

async function cancelAll(context: CommandContext, options: CancelOptions): Promise<number> {
  if (!(await confirm(context, () => cancellationPlan(context, options.task), options)))
    return declined(options);
  return showAnswer(
    context,
    'cancelling',
    (client) => client.cancelTriggers(options.task, false),
    cancelledFields,
  );
}

async function cancellationPlan(context: CommandContext, task: TaskType | undefined): Promise<string[]> {
  const { body } = await ask(context, 'counting', (client) => client.cancelTriggers(task, true));
  const counts = `${body.triggers.toLocaleString('en-US')}, with ${cardCount(body.cards)} to poll`;
  const of = task === undefined ? '' : ` of ${task}`;
  return [`Cancel all open triggers${of}: ${counts}.`, 'Cards that are being polled are finished.'];
}

const status = defineCommand<[string], WaitOptions>({
  name: 'status',
  summary: 'Show the progress of a trigger',
  examples: [
    ['cardpoll trigger status 5f0c2a9be17d4c33', 'counts of waiting, succeeded and failed cards'],
    ['cardpoll trigger status 5f0c2a9be17d4c33 --wait', 'wait until it has finished'],
    ['cardpoll trigger status 5f0c2a9be17d4c33 -o json', 'what the API says'],
  ],
  arguments: [TRIGGER_ID],
  options: [WAIT_OPTION],
  run: async (context, { args: [triggerId], options }) => {
    const trigger = await ask(context, 'reading the trigger', (client) => client.trigger(triggerId));
    return showTrigger(context, trigger, options);
  },
});

const list = defineCommand<[], PageOptions>({
  name: 'list',
  summary: 'Show manual triggers, newest first',
  examples: [
    ['cardpoll trigger list', 'the latest 20'],
    ['cardpoll trigger list --page 2', 'the 20 before them'],
    ['cardpoll trigger list --page 2 --page-size 100 -o json', 'further back, for programs'],
  ],
  options: pageOptions(20),
  run: (context, { options }) =>
    showPages(context, options, {
      label: 'reading triggers',
      read: (client, page, pageSize) => client.triggers(page, pageSize),
      keyOf: ({ trigger_id }) => trigger_id,
      table: triggerTable,
      noun: 'triggers',
      empty: 'no triggers yet: cardpoll trigger single --card-id 42 --task realname --wait',
    }),
});

export const trigger: CommandSpec = {
  name: 'trigger',
  summary: 'Poll cards now, outside the schedule',
  examples: EXAMPLES,
  subcommands: [single, batch, byCondition, cancel, status, list],
};
