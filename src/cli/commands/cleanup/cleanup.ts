// `cardpoll cleanup`: how long data is kept, and the runs that remove expired data.
import type { RetentionBody } from '../../../api/client/client-bodies.ts';
import { integer, text } from '../../../config/kinds.ts';
import { RETENTION_DAYS_BOUNDS } from '../../../domain/cleanup.ts';
import { ask, showAnswer, showList, showUnlessOver } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, type CommandSpec, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm, declined } from '../../confirm.ts';
import { findRetention } from '../../named.ts';
import { type Change, printChange } from '../../output/change.ts';
import { printAnswer } from '../../output/print.ts';
import { listTable, ofOne } from '../../output/table.ts';
import { cleanupRun, preview, progressTable } from './cleanup-run.ts';

const EXAMPLES = [
  ['cardpoll cleanup configs', 'how long each kind of data is kept'],
  ['cardpoll cleanup set-retention usage_records 365', 'keep usage records for a year'],
  ['cardpoll cleanup run --wait', 'remove expired data now; asks first'],
] as const;

const SWITCHING = [
  ['cardpoll cleanup configs', 'the ids'],
  ['cardpoll cleanup disable 1', 'keep usage records indefinitely'],
  ['cardpoll cleanup enable 1', 'remove expired ones again'],
] as const;

const CONFIG: ArgumentSpec = {
  name: '<config>',
  doc: 'number or target of the cleanup config, from `cardpoll cleanup configs`',
  kind: text('number or target'),
  names: 'cleanup_configs',
};

const configs = defineCommand({
  name: 'configs',
  summary: 'Show how long each kind of data is kept',
  examples: EXAMPLES,
  run: (context) =>
    showList(context, 'reading cleanup configs', (client) => client.cleanupConfigs(), {
      table: configTable,
      noun: 'cleanup configs',
      empty: 'no cleanup configs',
    }),
});

function find(context: CommandContext, given: string): Promise<RetentionBody> {
  return ask(context, 'reading cleanup configs', (client) => findRetention(client, given));
}

async function update(
  context: CommandContext,
  before: RetentionBody,
  patch: { readonly retention_days?: number; readonly enabled?: boolean },
): Promise<number> {
  const answer = await ask(context, 'changing the cleanup config', (client) =>
    client.updateCleanupConfig(before.id, patch),
  );
  const changes: Change[] = [
    ['days', before.retention_days, answer.body.retention_days],
    ['enabled', before.enabled, answer.body.enabled],
  ];
  printChange(context.io, before.target, changes, null);
  return printAnswer(context, answer, ofOne(configTable));
}

const setRetention = defineCommand<[string, number], ConfirmOptions>({
  name: 'set-retention',
  summary: 'Change how long data is kept, from the next run on; asks before it gets shorter',
  examples: [
    ['cardpoll cleanup set-retention usage_records 365', 'keep it longer'],
    ['cardpoll cleanup set-retention 1 90', 'keep it shorter; asks first'],
    ['cardpoll cleanup set-retention 1 90 --yes', 'for scripts'],
  ],
  arguments: [
    CONFIG,
    {
      name: '<days>',
      doc: `days, ${RETENTION_DAYS_BOUNDS.min} to ${RETENTION_DAYS_BOUNDS.max}`,
      kind: integer(RETENTION_DAYS_BOUNDS),
    },
  ],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [given, days], options }) => {
    const config = await find(context, given);
    const asks = days < config.retention_days || options.dryRun === true;
    if (asks && !(await confirm(context, retentionPlan(config, days), options))) return declined(options);
    return update(context, config, { retention_days: days });
  },
});

function retentionPlan({ target, retention_days: before, enabled }: RetentionBody, days: number): string[] {
  const change = `Keep ${target} for ${days} days instead of ${before}.`;
  if (days >= before) return [change];
  const loss = `The next cleanup permanently removes data older than ${days} days.`;
  return [change, enabled ? loss : `${loss} Cleanup of ${target} is disabled at present.`];
}

const enable = defineCommand<[string], unknown>({
  name: 'enable',
  summary: 'Enable a cleanup config, so that its expired data is removed',
  examples: SWITCHING,
  arguments: [CONFIG],
  run: async (context, { args: [given] }) => update(context, await find(context, given), { enabled: true }),
});

const disable = defineCommand<[string], unknown>({
  name: 'disable',
  summary: 'Disable a cleanup config, so that its data is kept indefinitely',
  examples: SWITCHING,
  arguments: [CONFIG],
  run: async (context, { args: [given] }) => update(context, await find(context, given), { enabled: false }),
});

const progress = defineCommand({
  name: 'progress',
  summary: 'Show the progress of the running cleanup, or the result of the last one',
  examples: [
    ['cardpoll cleanup progress', 'counts by target'],
    ['cardpoll cleanup progress -o json', 'what the API says'],
    ['cardpoll cleanup run --wait', 'start a run and follow it'],
  ],
  run: (context) =>
    showAnswer(context, 'reading cleanup progress', (client) => client.cleanupProgress(), progressTable),
});

const cancel = defineCommand<[], unknown>({
  name: 'cancel',
  summary: 'Cancel the running cleanup; removed rows stay removed; exit code 1 if none runs',
  examples: [
    ['cardpoll cleanup cancel', 'stops after the current batch'],
    ['cardpoll cleanup progress', 'what it has removed'],
    ['cardpoll cleanup cancel -o json', 'what the API says'],
  ],
  run: (context) => showUnlessOver(context, 'cancelling', (client) => client.cancelCleanup(), progressTable),
});

export const cleanup: CommandSpec = {
  name: 'cleanup',
  summary: 'Remove expired data, and set how long data is kept',
  examples: EXAMPLES,
  subcommands: [configs, setRetention, enable, disable, preview, cleanupRun, progress, cancel],
};

const configTable = listTable<RetentionBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DAYS', cell: (row) => style.number(row.retention_days) },
  { header: 'STATUS', cell: ({ enabled }) => style.enabled(enabled) },
  { header: 'LAST RUN', cell: (row) => style.time(row.last_run_at) },
]);
