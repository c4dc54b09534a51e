// `cardpoll configs`: which cards are polled how often.
import type { ConfigRequest } from '../../api/client.ts';
import { duration, integer, oneOf, text } from '../../config/kinds.ts';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import { CARD_CONDITIONS, type CardCondition } from '../../domain/polling-config.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import { ask } from '../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand, type OptionSpec } from '../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm } from '../confirm.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../exit-codes.ts';
import { configTable, selectionText } from '../output/config-tables.ts';
import { printAnswer, printList } from '../output/print.ts';
import { LARGEST_PAGE_SIZE, type PageOptions, pageOptions } from '../page-options.ts';

const ID: ArgumentSpec = {
  name: '<id>',
  doc: 'number of the polling config',
  kind: integer({ min: 1, max: 2 ** 31 - 1 }),
};
const EXAMPLES = [
  ['cardpoll configs', 'all polling configs'],
  ['cardpoll configs disable 3', 'stop polling its cards'],
  ['cardpoll configs set 3 --interval-seconds 900', 'poll them every 15 minutes'],
  [
    'cardpoll configs create --name VIP --task carddata --carrier-id 7 --interval-seconds 300 --priority 10',
    'new',
  ],
  ['cardpoll configs delete 5', 'asks first'],
] as const;

async function list(context: CommandContext, { page, pageSize }: PageOptions): Promise<number> {
  const answer = await ask(context, 'reading polling configs', (client) => client.configs(page, pageSize));
  await printList(context, answer, {
    table: configTable,
    noun: 'configs',
    empty:
      'no polling configs, so nothing is polled: cardpoll configs create --name All --task carddata --interval-seconds 1h',
  });
  return EXIT_OK;
}

async function update(context: CommandContext, id: number, patch: Partial<ConfigRequest>): Promise<number> {
  const answer = await ask(context, 'changing the polling config', (client) =>
    client.updateConfig(id, patch),
  );
  await printAnswer(context, answer, (body, style) => configTable([body], style));
  return 0;
}

const enable = defineCommand<[number], unknown>({
  name: 'enable',
  summary: 'Poll the cards of a config',
  examples: EXAMPLES,
  arguments: [ID],
  run: (context, { args: [id] }) => update(context, id, { status: 1 }),
});

const disable = defineCommand<[number], unknown>({
  name: 'disable',
  summary: 'Stop polling the cards of a config',
  examples: EXAMPLES,
  arguments: [ID],
  run: (context, { args: [id] }) => update(context, id, { status: 0 }),
});

interface ConfigOptions {
  readonly name?: string;
  readonly task?: TaskType;
  readonly cards?: CardCondition;
  readonly carrierId?: number;
  readonly allCarriers?: boolean;
  readonly intervalSeconds?: number;
  readonly priority?: number;
}

function configOptions(required: boolean): readonly OptionSpec[] {
  return [
    { flags: '--name <text>', doc: 'what to call it', kind: text('name'), required },
    { flags: '--task <task_type>', doc: TASK_TYPES.join(', '), kind: oneOf(TASK_TYPES), required },
    {
      flags: '--cards <condition>',
      doc: `${CARD_CONDITIONS.join(', ')}${required ? ' (default: any)' : ''}`,
      kind: oneOf(CARD_CONDITIONS),
    },
    {
      flags: '--carrier-id <n>',
      doc: `cards of this carrier only${required ? ' (default: of all)' : ''}`,
      kind: integer(SELECTION_BOUNDS),
    },
    {
      flags: '--interval-seconds <n>',
      doc: 'seconds between two polls of a card',
      kind: duration('s', { min: 1, max: 2_592_000 }),
      required,
    },
    {
      flags: '--priority <n>',
      doc: `of two configs that match a card the higher polls it, then the lower id${required ? ' (default: 0)' : ''}`,
      kind: integer({ min: -1_000_000, max: 1_000_000 }),
    },
  ];
}

const set = defineCommand<[number], ConfigOptions>({
  name: 'set',
  summary: 'Change a config; what is not named stays as it is',
  examples: [
    ['cardpoll configs set 3 --interval-seconds 900', 'poll its cards every 15 minutes'],
    ['cardpoll configs set 3 --carrier-id 7', 'only those of one carrier'],
    ['cardpoll configs set 3 --all-carriers', 'those of all carriers again'],
  ],
  arguments: [ID],
  options: [...configOptions(false), { flags: '--all-carriers', doc: 'cards of all carriers' }],
  run: async (context, { args: [id], options }) => {
    const patch = requestOf(options);
    if (Object.keys(patch).length === 0) {
      throw new CardpollError(
        'usage',
        'nothing_to_change',
        'say what to change, for example --interval-seconds 900',
      );
    }
    return update(context, id, patch);
  },
});

const create = defineCommand<[], ConfigOptions & { readonly disabled?: boolean }>({
  name: 'create',
  summary: 'Poll cards by a new config',
  examples: [
    ['cardpoll configs create --name Night --task package --interval-seconds 24h', 'every card once a day'],
    [
      'cardpoll configs create --name VIP --task carddata --carrier-id 7 --interval-seconds 300 --priority 10',
      'wins over configs of lower priority',
    ],
    ['cardpoll configs create --name Later --task package --interval-seconds 1h --disabled', 'not yet'],
  ],
  options: [...configOptions(true), { flags: '--disabled', doc: 'create it without polling' }],
  run: async (context, { options }) => {
    const config: Partial<ConfigRequest> = {
      card_condition: 'any',
      ...requestOf(options),
      ...(options.disabled === true ? { status: 0 } : {}),
    };
    const answer = await ask(context, 'creating the polling config', (client) => client.createConfig(config));
    await printAnswer(context, answer, (body, style) => configTable([body], style));
    return EXIT_OK;
  },
});

const remove = defineCommand<[number], ConfirmOptions>({
  name: 'delete',
  summary: 'Delete a config; its cards go to the next one that matches them',
  examples: [
    ['cardpoll configs delete 5', 'asks first'],
    ['cardpoll configs delete 5 --dry-run', 'shows what would happen'],
    ['cardpoll configs delete 5 --yes', 'for scripts'],
  ],
  arguments: [ID],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [id], options }) => {
    const plan = options.yes === true && options.dryRun !== true ? [] : await deletionPlan(context, id);
    if (!(await confirm(context.io, plan, options))) return options.dryRun === true ? EXIT_OK : EXIT_NEGATIVE;
    const answer = await ask(context, 'deleting the polling config', (client) => client.deleteConfig(id));
    context.io.stderr.write(`polling config ${id} is deleted\n`);
    await printAnswer(context, answer, (body, style) => configTable([body], style));
    return EXIT_OK;
  },
});

async function deletionPlan(context: CommandContext, id: number): Promise<string[]> {
  const { body } = await ask(context, 'reading the polling config', (client) => client.config(id));
  const cards = body.members === null ? 'its cards' : `${body.members.toLocaleString('en-US')} cards`;
  return [
    `Delete polling config ${id} "${body.name}": ${body.task_type}, ${selectionText(body)}.`,
    `The next config that matches polls ${cards}; without one they are polled for ${body.task_type} no more.`,
  ];
}

function requestOf(options: ConfigOptions): Partial<ConfigRequest> {
  const { name, task, cards, carrierId, allCarriers, intervalSeconds, priority } = options;
  if (carrierId !== undefined && allCarriers === true) {
    const message = '--carrier-id and --all-carriers contradict each other: keep one';
    throw new CardpollError('usage', 'contradiction', message);
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(task === undefined ? {} : { task_type: task }),
    ...(cards === undefined ? {} : { card_condition: cards }),
    ...(carrierId === undefined ? {} : { carrier_id: carrierId }),
    ...(allCarriers === true ? { carrier_id: null } : {}),
    ...(intervalSeconds === undefined ? {} : { interval_seconds: intervalSeconds }),
    ...(priority === undefined ? {} : { priority }),
  };
}

export const configs = defineCommand({
  name: 'configs',
  summary: 'Show and change the polling configs (default: list)',
  examples: EXAMPLES,
  subcommands: [
    defineCommand<[], PageOptions>({
      name: 'list',
      summary: 'Show all polling configs',
      examples: EXAMPLES,
      options: pageOptions(LARGEST_PAGE_SIZE),
      run: (context, { options }) => list(context, options),
    }),
    enable,
    disable,
    set,
    create,
    remove,
  ],
  run: (context) => list(context, { page: 1, pageSize: LARGEST_PAGE_SIZE }),
});
