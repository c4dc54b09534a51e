// `cardpoll cleanup`: how long data is kept, the preview of a cleanup, and the runs that remove expired data. `run` is for cron:
// silent on success, exit code 75 while another run is active, 1 when the run failed.
import type { Answer } from '../../api/client/client-calls.ts';
import { cleanupChange } from '../../changes/cleanup.ts';
import { planLines } from '../../changes/planned-change.ts';
import { integer, text } from '../../config/kinds.ts';
import { RETENTION_DAYS_BOUNDS } from '../../domain/cleanup.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../platform/exit-codes.ts';
import type { CleanupPreviewBody, CleanupProgressBody, RetentionBody } from '../../resources/cleanup.ts';
import type { Style } from '../../terminal/style.ts';
import { fieldList, listTable, ofOne } from '../../terminal/table.ts';
import { ask, showAnswer, showList, showUnlessOver } from '../ask.ts';
import { type ArgumentSpec, type CommandContext, type CommandSpec, defineCommand } from '../command.ts';
import { CONFIRM_OPTIONS, confirm, confirmIf } from '../confirm.ts';
import { follow } from '../follow.ts';
import { findRetention, namesIn } from '../named.ts';
import { type Change, printAnswer, printChange } from '../output/print.ts';
import { ProgressBar } from '../output/progress-bar.ts';

const SWITCHING = [
  'cardpoll cleanup configs  # the ids',
  'cardpoll cleanup disable 1  # keep usage records indefinitely',
  'cardpoll cleanup enable 1  # remove expired ones again',
];

const CONFIG = {
  name: '<config>',
  doc: 'number or target of the cleanup config, from `cardpoll cleanup configs`',
  kind: text('number or target'),
  names: namesIn(
    (client) => client.cleanupConfigs(),
    ({ target }) => target,
  ),
} as const satisfies ArgumentSpec;

const configs = defineCommand({
  name: 'configs',
  summary: 'Show how long each kind of data is kept',
  isDefault: true,
  run: (context) =>
    showList(context, 'reading cleanup configs', (client) => client.cleanupConfigs(), {
      table: configTable,
      empty: 'no cleanup configs',
    }),
});

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

const setRetention = defineCommand({
  name: 'set-retention',
  summary: 'Change how long data is kept, from the next run on; asks before it gets shorter',
  examples: [
    'cardpoll cleanup set-retention usage_records 365  # keep it longer',
    'cardpoll cleanup set-retention 1 90  # keep it shorter; asks first',
    'cardpoll cleanup set-retention 1 90 --yes  # for scripts',
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
    const config = await findRetention(context, given);
    await confirmIf(days < config.retention_days, context, retentionPlan(config, days), options);
    return update(context, config, { retention_days: days });
  },
});

function retentionPlan({ target, retention_days: before, enabled }: RetentionBody, days: number): string[] {
  const change = `Keep ${target} for ${days} days instead of ${before}.`;
  if (days >= before) return [change];
  const loss = `The next cleanup permanently removes data older than ${days} days.`;
  return [change, enabled ? loss : `${loss} Cleanup of ${target} is disabled at present.`];
}

function switching(name: string, summary: string, enabled: boolean): CommandSpec {
  return defineCommand({
    name,
    summary,
    examples: SWITCHING,
    arguments: [CONFIG],
    run: async (context, { args: [given] }) =>
      update(context, await findRetention(context, given), { enabled }),
  });
}

const enable = switching('enable', 'Enable a cleanup config, so that its expired data is removed', true);
const disable = switching(
  'disable',
  'Disable a cleanup config, so that its data is kept indefinitely',
  false,
);

const progress = defineCommand({
  name: 'progress',
  summary: 'Show the progress of the running cleanup, or the result of the last one',
  examples: [
    'cardpoll cleanup progress  # counts by target',
    'cardpoll cleanup progress -o json  # what the API says',
    'cardpoll cleanup run --wait  # start a run and follow it',
  ],
  run: (context) =>
    showAnswer(context, 'reading cleanup progress', (client) => client.cleanupProgress(), progressTable),
});

const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel the running cleanup; removed rows stay removed; exit code 1 if none runs',
  examples: [
    'cardpoll cleanup cancel  # stops after the current batch',
    'cardpoll cleanup progress  # what it has removed',
    'cardpoll cleanup cancel -o json  # what the API says',
  ],
  run: (context) => showUnlessOver(context, 'cancelling', (client) => client.cancelCleanup(), progressTable),
});

const configTable = listTable<RetentionBody>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DAYS', cell: (row) => style.number(row.retention_days) },
  { header: 'STATUS', cell: ({ enabled }) => style.enabled(enabled) },
  { header: 'LAST RUN', cell: (row) => style.time(row.last_run_at) },
]);

const preview = defineCommand({
  name: 'preview',
  summary: 'Show what a cleanup would remove now',
  examples: [
    'cardpoll cleanup preview  # rows by target; ~ marks an estimate',
    'cardpoll cleanup preview -o json  # what the API says',
    'cardpoll cleanup run --dry-run  # the same as a plan',
  ],
  run: (context) =>
    showList(context, 'counting', (client) => client.cleanupPreview(), {
      table: previewTable,
      empty: 'every cleanup config is disabled: cardpoll cleanup configs',
    }),
});

const run = defineCommand({
  name: 'run',
  summary: 'Remove expired data in small batches',
  examples: [
    'cardpoll cleanup run --wait  # shows the plan, asks, and follows the run',
    'cardpoll cleanup run --dry-run  # shows the plan only',
    'cardpoll cleanup run --yes --wait  # for cron: silent on success, exit code 75 while another run is active',
  ],
  options: [
    ...CONFIRM_OPTIONS,
    { flags: '--wait', doc: 'wait for the end of the run; exit code 1 if it failed' },
    { flags: '-v, --verbose', doc: 'print the result even without a terminal' },
  ],
  run: async (context, { options }) => {
    const plan = async () => {
      const { body } = await ask(context, 'counting', (client) => client.cleanupPreview());
      return planLines(cleanupChange(body));
    };
    await confirm(context, plan, options);
    const begun = await ask(context, 'starting the cleanup', (client) => client.triggerCleanup());
    if (options.wait !== true) {
      return printAnswer(context, begun, ({ run_id }) => `${run_id}\n`);
    }
    const runId = begun.body.run_id;
    return showResult(context, runId, await waitFor(context, runId), options.verbose === true);
  },
});

function waitFor(context: CommandContext, runId: string): Promise<Answer<CleanupProgressBody>> {
  const bar = new ProgressBar(context.io, 'cleaning');
  return follow(context, {
    bar,
    read: (client) => client.cleanupProgress(),
    isDone: ({ run_id: current, status, items, deleted }) => {
      bar.total ??= items.reduce((sum, item) => sum + item.total, 0);
      bar.update(deleted);
      // A later run can only have begun after this one ended.
      return current !== runId || status !== 'running';
    },
    whatContinues:
      `cleanup ${runId} continues: \`cardpoll cleanup progress\` shows its progress, ` +
      '`cardpoll cleanup cancel` cancels it',
  });
}

async function showResult(
  context: CommandContext,
  runId: string,
  answer: Answer<CleanupProgressBody>,
  isVerbose: boolean,
): Promise<number> {
  const { io, format } = context;
  const { run_id: current, status, items } = answer.body;
  if (current !== runId) {
    io.stderr.write('cardpoll: another cleanup has started since; worker.log has the result of this one\n');
    return EXIT_NEGATIVE;
  }
  if (format !== 'table' || isVerbose || io.stdout.isTTY === true) {
    await printAnswer(context, answer, progressTable);
  }
  if (status !== 'failed') return EXIT_OK;
  const failures = items.filter((item) => item.error !== null).map((item) => `${item.target}: ${item.error}`);
  io.stderr.write(`cardpoll: the cleanup failed: ${failures.join('; ')}\n`);
  return EXIT_NEGATIVE;
}

type PreviewItem = CleanupPreviewBody['items'][number];

const previewTable = listTable<PreviewItem>((style) => [
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DAYS', cell: (row) => style.number(row.retention_days) },
  { header: 'OLDER THAN', cell: (row) => style.time(row.cutoff) },
  { header: 'ROWS', cell: ({ rows, estimated }) => style.estimate(rows, estimated) },
]);

const targetTable = listTable<CleanupProgressBody['items'][number]>((style) => [
  { header: 'TARGET', cell: (row) => style.text(row.target), least: 8 },
  { header: 'DELETED', cell: (row) => style.number(row.deleted) },
  { header: 'TOTAL', cell: (row) => style.number(row.total) },
  {
    header: 'ERROR',
    cell: (row) => style.text(row.error, row.error === null ? undefined : 'red'),
    least: 20,
  },
]);

const runFields = fieldList<CleanupProgressBody>((body, style) => [
  ['status', style.text(body.status, body.status === 'failed' ? 'red' : undefined)],
  ['deleted', style.text(style.number(body.deleted).text)],
  ['batches', style.text(style.number(body.batches).text)],
  ['started', style.time(body.started_at)],
  ['finished', style.time(body.finished_at)],
]);

/** The run and a table; as records only the targets. */
function progressTable(body: CleanupProgressBody, style: Style): string {
  const table = targetTable(body.items, style);
  if (!style.forPeople) return table;
  const run = runFields(body, style);
  return body.items.length === 0 ? run : `${run}\n${table}`;
}

export const cleanup: CommandSpec = {
  name: 'cleanup',
  summary: 'Remove expired data, and set how long data is kept',
  examples: [
    'cardpoll cleanup configs  # how long each kind of data is kept',
    'cardpoll cleanup set-retention usage_records 365  # keep usage records for a year',
    'cardpoll cleanup run --wait  # remove expired data now; asks first',
  ],
  subcommands: [configs, setRetention, enable, disable, preview, run, progress, cancel],
};
