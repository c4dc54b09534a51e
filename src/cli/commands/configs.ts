// `cardpoll configs`: which cards are polled how often.
import type { ConfigBody } from '../../api/client.ts';
import { duration, integer } from '../../config/kinds.ts';
import { ask } from '../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../command.ts';
import { printAnswer } from '../output/print.ts';
import type { Style } from '../output/style.ts';
import { renderTable } from '../output/table.ts';

const ID: ArgumentSpec = {
  name: '<id>',
  doc: 'number of the polling config',
  kind: integer({ min: 1, max: 2 ** 31 - 1 }),
};
const EXAMPLES = [
  ['cardpoll configs', 'all polling configs'],
  ['cardpoll configs disable 3', 'stop polling its cards'],
  ['cardpoll configs set 3 --interval-seconds 900', 'poll them every 15 minutes'],
] as const;

async function list(context: CommandContext): Promise<number> {
  const answer = await ask(context, 'reading polling configs', (client) => client.configs());
  await printAnswer(context, answer, ({ items }, style) => configTable(items, style));
  return 0;
}

async function update(
  context: CommandContext,
  id: number,
  patch: { readonly status?: 0 | 1; readonly interval_seconds?: number },
): Promise<number> {
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

const set = defineCommand<[number], { readonly intervalSeconds: number }>({
  name: 'set',
  summary: 'Change how often the cards of a config are polled',
  examples: EXAMPLES,
  arguments: [ID],
  options: [
    {
      flags: '--interval-seconds <n>',
      doc: 'seconds between two polls of a card',
      kind: duration('s', { min: 1, max: 2_592_000 }),
      required: true,
    },
  ],
  run: (context, { args: [id], options }) =>
    update(context, id, { interval_seconds: options.intervalSeconds }),
});

function configTable(items: readonly ConfigBody[], style: Style): string {
  const columns = [
    { header: 'ID', cell: (row: ConfigBody) => style.number(row.id) },
    { header: 'NAME', cell: (row: ConfigBody) => style.text(row.name) },
    { header: 'TASK', cell: (row: ConfigBody) => style.text(row.task_type) },
    { header: 'CARDS', cell: (row: ConfigBody) => style.text(row.card_condition) },
    { header: 'CARRIER', cell: (row: ConfigBody) => style.text(row.carrier_id ?? 'all') },
    { header: 'INTERVAL', cell: (row: ConfigBody) => style.seconds(row.interval_seconds) },
    { header: 'PRIORITY', cell: (row: ConfigBody) => style.number(row.priority) },
    {
      header: 'STATUS',
      cell: ({ status }: ConfigBody) =>
        status === 1 ? style.text('enabled', 'green') : style.text('disabled', 'yellow'),
    },
  ];
  return renderTable(items, columns, style);
}

export const configs = defineCommand({
  name: 'configs',
  summary: 'Show and change the polling configs (default: list)',
  examples: EXAMPLES,
  subcommands: [
    defineCommand({ name: 'list', summary: 'Show all polling configs', examples: EXAMPLES, run: list }),
    enable,
    disable,
    set,
  ],
  run: list,
});
