// `cardpoll configs`: which cards are polled, and how often.
import { switchChange } from '../../../changes/configs.ts';
import { planLines } from '../../../changes/planned-change.ts';
import { duration, integer, oneOf, text } from '../../../config/kinds.ts';
import { SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import { PAGE_SIZE_BOUNDS } from '../../../domain/page.ts';
import { plainText } from '../../../domain/plain-text.ts';
import {
  CARD_CONDITIONS,
  INTERVAL_SECONDS_BOUNDS,
  PRIORITY_BOUNDS,
} from '../../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../../domain/task-type.ts';
import { cardCount, span } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { ConfigBody, ConfigRequest } from '../../../resources/schedule.ts';
import { configTable, selectionText } from '../../../terminal/reports/config-tables.ts';
import { enabledWord } from '../../../terminal/style.ts';
import { ofGone, ofOne } from '../../../terminal/table.ts';
import { ask, pageOptions, showAnswer, showPages } from '../../ask.ts';
import {
  type ArgumentSpec,
  type CommandContext,
  type CommandSpec,
  defineCommand,
  type OptionSpec,
  type OptionsOf,
} from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { findConfig, namesIn } from '../../named.ts';
import { type Change, printAnswer, printChange } from '../../output/print.ts';
import { confirmConfig } from '../limits/demand-plan.ts';

const CONFIG = {
  name: '<config>',
  doc: 'number or name of the polling config, from `cardpoll configs`',
  kind: text('number or name'),
  names: namesIn(
    (client) => client.configs(1, PAGE_SIZE_BOUNDS.max),
    ({ name }) => name,
  ),
} as const satisfies ArgumentSpec;

const list = defineCommand({
  name: 'list',
  summary: 'Show all polling configs',
  isDefault: true,
  options: pageOptions(PAGE_SIZE_BOUNDS.max),
  run: (context, { options }) =>
    showPages(context, options, {
      label: 'reading polling configs',
      read: (client, page, pageSize) => client.configs(page, pageSize),
      keyOf: ({ id }) => id,
      table: configTable,
      noun: 'configs',
      empty:
        'no polling configs, so nothing is polled: cardpoll configs create --name All --task carddata --interval-seconds 1h',
    }),
});

async function update(context: CommandContext, before: ConfigBody, patch: ConfigRequest) {
  const answer = await ask(context, 'changing the polling config', (client) =>
    client.updateConfig(before.id, patch),
  );
  const what = `config ${before.id} "${before.name}"`;
  printChange(context.io, what, changesBetween(before, answer.body), before.members);
  return printAnswer(context, answer, ofOne(configTable));
}

function changesBetween(before: ConfigBody, after: ConfigBody): Change[] {
  return [
    ['name', before.name, after.name],
    ['task', before.task_type, after.task_type],
    ['cards', before.card_condition, after.card_condition],
    ['carrier', before.carrier_id ?? 'all', after.carrier_id ?? 'all'],
    ['interval', span(before.interval_seconds), span(after.interval_seconds)],
    ['priority', before.priority, after.priority],
    ['status', enabledWord(before.status === 1), enabledWord(after.status === 1)],
  ];
}

const enable = defineCommand({
  name: 'enable',
  summary: 'Enable a config, so that its cards are polled',
  arguments: [CONFIG],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [given], options }) => {
    const config = await findConfig(context, given);
    await confirmConfig(context, config, { ...config, status: 1 }, options);
    return update(context, config, { status: 1 });
  },
});

const disable = defineCommand({
  name: 'disable',
  summary: 'Disable a config, so that its cards are not polled',
  examples: [
    'cardpoll configs disable 3  # asks first',
    'cardpoll configs disable "Package check" --dry-run  # by name; shows how many cards it affects',
    'cardpoll configs disable 3 --yes  # for scripts',
  ],
  arguments: [CONFIG],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [given], options }) => {
    const config = await findConfig(context, given);
    await confirm(context, planLines(switchChange(config, false)), options);
    return update(context, config, { status: 0 });
  },
});

const SET_OPTIONS = [
  ...configOptions(false),
  { flags: '--all-carriers', doc: 'cards of all carriers', conflicts: ['carrierId'] },
  ...CONFIRM_OPTIONS,
] as const satisfies readonly OptionSpec[];

const set = defineCommand({
  name: 'set',
  summary: 'Change the given fields of a config; asks if it would need far more than can be polled',
  examples: [
    'cardpoll configs set 3 --interval-seconds 900  # poll its cards every 15 minutes',
    'cardpoll configs set 3 --interval-seconds 60 --dry-run  # shows demand and capacity',
    'cardpoll configs set 3 --all-carriers  # cards of all carriers again',
  ],
  arguments: [CONFIG],
  options: SET_OPTIONS,
  run: async (context, { args: [given], options }) => {
    const patch = requestOf(options);
    if (Object.keys(patch).length === 0) {
      throw new CardpollError(
        'usage',
        'nothing_to_change',
        'nothing to change: give at least one option, for example --interval-seconds 900',
      );
    }
    const config = await findConfig(context, given);
    await confirmConfig(context, config, { ...config, ...patch }, options);
    return update(context, config, patch);
  },
});

const create = defineCommand({
  name: 'create',
  summary: 'Create a polling config; asks if it would need far more than can be polled',
  examples: [
    'cardpoll configs create --name Night --task package --interval-seconds 24h  # every card once a day',
    'cardpoll configs create --name VIP --task carddata --carrier-id 7 --interval-seconds 300 --priority 10  # wins over configs of lower priority',
    'cardpoll configs create --name Later --task package --interval-seconds 1h --disabled  # created disabled',
  ],
  options: [...configOptions(true), { flags: '--disabled', doc: 'create it disabled' }, ...CONFIRM_OPTIONS],
  run: async (context, { options }) => {
    const { name, task, intervalSeconds } = options;
    const config = {
      card_condition: 'any' as const,
      ...requestOf(options),
      ...(options.disabled === true ? { status: 0 as const } : {}),
    };
    const planned = {
      ...{ name, task_type: task, interval_seconds: intervalSeconds, carrier_id: null, status: 1 as const },
      ...config,
    };
    await confirmConfig(context, null, planned, options);
    return showAnswer(
      context,
      'creating the polling config',
      (client) => client.createConfig(config),
      ofOne(configTable),
    );
  },
});

const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a config; the next matching config takes its cards',
  examples: [
    'cardpoll configs delete 5  # asks first',
    'cardpoll configs delete 5 --dry-run  # shows what would happen',
    'cardpoll configs delete 5 --yes  # for scripts',
  ],
  arguments: [CONFIG],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [given], options }) => {
    const config = await findConfig(context, given);
    await confirm(context, deletionPlan(config), options);
    const { id } = config;
    const answer = await ask(context, 'deleting the polling config', (client) => client.deleteConfig(id));
    const said = plainText(`polling config ${id} "${config.name}" is deleted`);
    return printAnswer(context, answer, ofGone(said, configTable));
  },
});

function deletionPlan(config: ConfigBody): string[] {
  const { id, name, task_type: task, members } = config;
  const cards = members === null ? 'its cards' : cardCount(members);
  return [
    `Delete polling config ${id} "${name}": ${task}, ${selectionText(config)}.`,
    `The next matching config polls ${cards}; without one they are not polled for ${task}.`,
  ];
}

/** The options that describe a polling config, for `set` and `create`. */
function configOptions<const Required extends boolean>(required: Required) {
  return [
    { flags: '--name <text>', doc: 'name of the config', kind: text('name'), required },
    { flags: '--task <task_type>', doc: TASK_TYPES.join(', '), kind: oneOf(TASK_TYPES), required },
    {
      flags: '--cards <condition>',
      doc: `${CARD_CONDITIONS.join(', ')}${required ? ' (default: any)' : ''}`,
      kind: oneOf(CARD_CONDITIONS),
    },
    {
      flags: '--carrier-id <n>',
      doc: `only cards of this carrier${required ? ' (default: all carriers)' : ''}`,
      kind: integer(SELECTION_BOUNDS),
    },
    {
      flags: '--interval-seconds <n>',
      doc: 'time between two polls of a card, in seconds or as 15m, 1h',
      kind: duration('s', INTERVAL_SECONDS_BOUNDS),
      required,
    },
    {
      flags: '--priority <n>',
      doc: `if several configs match a card, the highest priority wins, then the lowest id${required ? ' (default: 0)' : ''}`,
      kind: integer(PRIORITY_BOUNDS),
    },
  ] as const;
}

function requestOf(options: OptionsOf<typeof SET_OPTIONS>): ConfigRequest {
  const { name, task, cards, carrierId, allCarriers, intervalSeconds, priority } = options;
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

export const configs: CommandSpec = {
  name: 'configs',
  summary: 'Show and change the polling configs (default: list)',
  examples: [
    'cardpoll configs  # all polling configs',
    'cardpoll configs disable "Package check"  # stop polling its cards; asks first',
    'cardpoll configs set 3 --interval-seconds 900  # poll them every 15 minutes',
    'cardpoll configs create --name VIP --task carddata --carrier-id 7 --interval-seconds 300 --priority 10  # new',
    'cardpoll configs delete 5  # asks first',
  ],
  subcommands: [list, enable, disable, set, create, remove],
};
