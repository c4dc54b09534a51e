// `cardpoll cleanup`: how long data is kept, and the runs that remove what has expired.
import { integer } from '../../config/kinds.ts';
import { RETENTION_DAYS_BOUNDS } from '../../domain/cleanup.ts';
import { ask } from '../ask.ts';
import { type ArgumentSpec, type CommandContext, type CommandSpec, defineCommand } from '../command.ts';
import { configTable, progressTable } from '../output/cleanup-tables.ts';
import { printAnswer, printList } from '../output/print.ts';
import { cleanupRun, preview } from './cleanup-run.ts';

const EXAMPLES = [
  ['cardpoll cleanup configs', 'what is kept how long'],
  ['cardpoll cleanup set-retention 1 90', 'keep usage records for 90 days'],
  ['cardpoll cleanup run --wait', 'remove now what has expired, after asking'],
] as const;

const SWITCHING = [
  ['cardpoll cleanup configs', 'the ids'],
  ['cardpoll cleanup disable 1', 'usage records are kept whatever their age'],
  ['cardpoll cleanup enable 1', 'they are cleaned again'],
] as const;

const ID: ArgumentSpec = {
  name: '<id>',
  doc: 'number of the cleanup config',
  kind: integer({ min: 1, max: 2 ** 31 - 1 }),
};

const configs = defineCommand({
  name: 'configs',
  summary: 'Show what is kept how long',
  examples: EXAMPLES,
  run: async (context) => {
    const answer = await ask(context, 'reading cleanup configs', (client) => client.cleanupConfigs());
    await printList(context, answer, {
      table: configTable,
      noun: 'cleanup configs',
      empty: 'no cleanup configs',
    });
    return 0;
  },
});

async function update(
  context: CommandContext,
  id: number,
  patch: { readonly retention_days?: number; readonly enabled?: boolean },
): Promise<number> {
  const answer = await ask(context, 'changing the cleanup config', (client) =>
    client.updateCleanupConfig(id, patch),
  );
  await printAnswer(context, answer, (body, style) => configTable([body], style));
  return 0;
}

const setRetention = defineCommand<[number, number], unknown>({
  name: 'set-retention',
  summary: 'Change how long data is kept; in force from the next run on',
  examples: EXAMPLES,
  arguments: [
    ID,
    {
      name: '<days>',
      doc: `days, ${RETENTION_DAYS_BOUNDS.min} to ${RETENTION_DAYS_BOUNDS.max}`,
      kind: integer(RETENTION_DAYS_BOUNDS),
    },
  ],
  run: (context, { args: [id, days] }) => update(context, id, { retention_days: days }),
});

const enable = defineCommand<[number], unknown>({
  name: 'enable',
  summary: 'Let cleanups remove the expired data of a config',
  examples: SWITCHING,
  arguments: [ID],
  run: (context, { args: [id] }) => update(context, id, { enabled: true }),
});

const disable = defineCommand<[number], unknown>({
  name: 'disable',
  summary: 'Keep the data of a config whatever its age',
  examples: SWITCHING,
  arguments: [ID],
  run: (context, { args: [id] }) => update(context, id, { enabled: false }),
});

const progress = defineCommand({
  name: 'progress',
  summary: 'Show how far the running cleanup is, or how the last one ended',
  examples: [
    ['cardpoll cleanup progress', 'counts by target'],
    ['cardpoll cleanup progress -o json', 'what the API says'],
    ['cardpoll cleanup run --wait', 'begin a run and follow it'],
  ],
  run: async (context) => {
    const answer = await ask(context, 'reading cleanup progress', (client) => client.cleanupProgress());
    await printAnswer(context, answer, progressTable);
    return 0;
  },
});

export const cleanup: CommandSpec = {
  name: 'cleanup',
  summary: 'Remove data that has expired, and say how long it is kept',
  examples: EXAMPLES,
  subcommands: [configs, setRetention, enable, disable, preview, cleanupRun, progress],
};
