// `cardpoll cleanup preview` and `run`: what a cleanup would remove, and removing it. For cron: silent on
// success, exit code 75 while another run is active, 1 when the run failed.
import type { CleanupPreviewBody, CleanupProgressBody } from '../../../api/client/client-bodies.ts';
import type { Answer } from '../../../api/client/client-calls.ts';
import { ask, showList } from '../../ask.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, type ConfirmOptions, confirm, declined } from '../../confirm.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../exit-codes.ts';
import { follow } from '../../follow.ts';
import { printAnswer } from '../../output/print.ts';
import { ProgressBar } from '../../output/progress-bar.ts';
import type { Style } from '../../output/style.ts';
import { fieldList, listTable } from '../../output/table.ts';

export const preview = defineCommand({
  name: 'preview',
  summary: 'Show what a cleanup would remove now',
  examples: [
    ['cardpoll cleanup preview', 'rows by target; ~ marks an estimate'],
    ['cardpoll cleanup preview -o json', 'what the API says'],
    ['cardpoll cleanup run --dry-run', 'the same as a plan'],
  ],
  run: (context) =>
    showList(context, 'counting', (client) => client.cleanupPreview(), {
      table: previewTable,
      noun: 'targets',
      empty: 'every cleanup config is disabled: cardpoll cleanup configs',
    }),
});

interface RunOptions extends ConfirmOptions {
  readonly wait?: boolean;
  readonly verbose?: boolean;
}

export const cleanupRun = defineCommand<[], RunOptions>({
  name: 'run',
  summary: 'Remove expired data in small batches',
  examples: [
    ['cardpoll cleanup run --wait', 'shows the plan, asks, and follows the run'],
    ['cardpoll cleanup run --dry-run', 'shows the plan only'],
    [
      'cardpoll cleanup run --yes --wait',
      'for cron: silent on success, exit code 75 while another run is active',
    ],
  ],
  options: [
    ...CONFIRM_OPTIONS,
    { flags: '--wait', doc: 'wait for the end of the run; exit code 1 if it failed' },
    { flags: '-v, --verbose', doc: 'print the result even without a terminal' },
  ],
  run: async (context, { options }) => {
    if (!(await confirm(context, () => planOf(context), options))) return declined(options);
    const begun = await ask(context, 'starting the cleanup', (client) => client.triggerCleanup());
    if (options.wait !== true) {
      return printAnswer(context, begun, ({ run_id }) => `${run_id}\n`);
    }
    const runId = begun.body.run_id;
    return showResult(context, runId, await waitFor(context, runId), options);
  },
});

async function planOf(context: CommandContext): Promise<string[]> {
  const { body } = await ask(context, 'counting', (client) => client.cleanupPreview());
  const lines = body.items.map(
    ({ target, retention_days: days, rows, estimated }) =>
      `  ${target}: ${estimated ? 'about ' : ''}${rows.toLocaleString('en-US')} rows older than ${days} days`,
  );
  return [`Remove ${body.total_rows.toLocaleString('en-US')} expired rows permanently:`, ...lines];
}

async function waitFor(context: CommandContext, runId: string): Promise<Answer<CleanupProgressBody>> {
  let bar: ProgressBar | null = null;
  try {
    return await follow(context, {
      read: (client) => client.cleanupProgress(),
      isDone: ({ run_id: current, status, items, deleted }) => {
        const total = items.reduce((sum, item) => sum + item.total, 0);
        bar ??= new ProgressBar(context.io, 'cleaning', total);
        bar.update(deleted);
        // A later run can only have begun after this one ended.
        return current !== runId || status !== 'running';
      },
      goesOn:
        `cleanup ${runId} continues: \`cardpoll cleanup progress\` shows its progress, ` +
        '`cardpoll cleanup cancel` cancels it',
    });
  } finally {
    (bar as ProgressBar | null)?.clear();
  }
}

async function showResult(
  context: CommandContext,
  runId: string,
  answer: Answer<CleanupProgressBody>,
  { verbose }: RunOptions,
): Promise<number> {
  const { io, format } = context;
  const { run_id: current, status, items } = answer.body;
  if (current !== runId) {
    io.stderr.write('cardpoll: another cleanup has started since; worker.log has the result of this one\n');
    return EXIT_NEGATIVE;
  }
  if (format !== 'table' || verbose === true || io.stdout.isTTY === true) {
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

/** The run and a table; as records the targets alone. */
export function progressTable(body: CleanupProgressBody, style: Style): string {
  const table = targetTable(body.items, style);
  if (!style.forPeople) return table;
  const run = runFields(body, style);
  return body.items.length === 0 ? run : `${run}\n${table}`;
}
