// `cardpoll stats`: the numbers of the fleet, once or again every two seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../api/client.ts';
import { oneOf } from '../../config/kinds.ts';
import { ask } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { overviewText } from '../output/overview.ts';
import { printAnswer } from '../output/print.ts';
import { initFields, queueTable, taskTable } from '../output/stats-tables.ts';

const VIEWS = ['overview', 'queues', 'tasks', 'init'] as const;
type View = (typeof VIEWS)[number];

const REFRESH_MS = 2_000;
const CLEAR_SCREEN = '\x1b[H\x1b[2J\x1b[3J';

export const stats = defineCommand<[View?], { readonly watch?: boolean }>({
  name: 'stats',
  summary: 'Show queues, rates, health and initialisation',
  examples: [
    ['cardpoll stats', 'the fleet at a glance'],
    ['cardpoll stats queues --watch', 'queue state, every two seconds'],
    ['cardpoll stats tasks -o json', 'what the API says'],
  ],
  arguments: [
    { name: '[view]', doc: `${VIEWS.join(', ')} (default: overview)`, kind: oneOf(VIEWS), choices: VIEWS },
  ],
  options: [{ flags: '--watch', doc: 'show again every two seconds until Ctrl-C' }],
  run: async (context, { args: [view = 'overview'], options }) => {
    if (options.watch !== true) {
      await ask(context, 'reading statistics', (client) => show(context, client, view, ''));
      return 0;
    }
    return watch(context, view);
  },
});

/** Ends by the interruption only: Ctrl-C, or nobody reading any more. */
async function watch(context: CommandContext, view: View): Promise<never> {
  const signal = context.io.onInterrupt();
  const client = await context.client();
  const before = context.io.stdout.isTTY === true && context.format === 'table' ? CLEAR_SCREEN : '';
  for (;;) {
    await show(context, client, view, before);
    await sleep(REFRESH_MS, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

/** @param before is written in front of the answer, once it is there: the old one stays in sight until then. */
async function show(context: CommandContext, client: ApiClient, view: View, before: string): Promise<void> {
  switch (view) {
    case 'overview':
      return printAnswer(
        context,
        await client.overview(),
        (body, style) => before + overviewText(body, style),
      );
    case 'queues':
      return printAnswer(
        context,
        await client.queues(),
        (body, style) => before + queueTable(body.items, style),
      );
    case 'tasks':
      return printAnswer(
        context,
        await client.tasks(),
        (body, style) => before + taskTable(body.items, style),
      );
    case 'init':
      return printAnswer(
        context,
        await client.initProgress(),
        (body, style) => before + initFields(body, style),
      );
  }
}
