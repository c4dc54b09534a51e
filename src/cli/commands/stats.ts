// `cardpoll stats`: fleet statistics, once or with --watch.
import type { ApiClient } from '../../api/client/client.ts';
import { oneOf } from '../../config/kinds.ts';
import { ask } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { ownAnswer, rendered } from '../output/print.ts';
import { failureText } from '../output/reports/failure-tables.ts';
import { overviewText } from '../output/reports/overview.ts';
import { initFields, instanceTable, queueTable, taskTable } from '../output/reports/stats-tables.ts';
import { ofItems } from '../output/table.ts';
import { WATCH_OPTION, type WatchOptions, watch } from '../watch.ts';

type Show = (context: CommandContext, client: ApiClient) => Promise<string>;

const SHOWN = {
  overview: async (context, client) => rendered(context, await client.overview(), overviewText),
  queues: async (context, client) => rendered(context, await client.queues(), ofItems(queueTable)),
  tasks: async (context, client) => rendered(context, await client.tasks(), ofItems(taskTable)),
  init: async (context, client) => rendered(context, await client.initProgress(), initFields),
  instances,
  failures: async (context, client) => rendered(context, await client.failures(), ofItems(failureText)),
} as const satisfies Readonly<Record<string, Show>>;

type View = keyof typeof SHOWN;
const VIEWS = Object.keys(SHOWN) as readonly View[];

export const stats = defineCommand<[View?], WatchOptions>({
  name: 'stats',
  summary: 'Show queues, rates, health, failures, instances and initialisation',
  examples: [
    ['cardpoll stats', 'the fleet at a glance'],
    ['cardpoll stats queues --watch=5', 'queues, every five seconds'],
    ['cardpoll stats failures', 'why polls fail, of which carriers, and for which cards'],
    ['cardpoll stats tasks -o json', 'what the API says'],
  ],
  arguments: [
    { name: '[view]', doc: `${VIEWS.join(', ')} (default: overview)`, kind: oneOf(VIEWS), choices: VIEWS },
  ],
  options: [WATCH_OPTION],
  run: async (context, { args: [view = 'overview'], options }) => {
    const read = (client: ApiClient) => SHOWN[view](context, client);
    if (options.watch !== undefined) return watch(context, options.watch, read);
    context.io.stdout.write(await ask(context, 'reading statistics', read));
    return EXIT_OK;
  },
});

/** The API sends the instances with the overview; as JSON they are a list of their own. */
async function instances(context: CommandContext, client: ApiClient): Promise<string> {
  const { body } = await client.overview();
  return rendered(context, ownAnswer({ items: body.workers }), ({ items }, style) => {
    return style.forPeople && items.length === 0
      ? 'no instance is alive: cardpoll daemon\n'
      : instanceTable(items, style);
  });
}
