// Shows a run that resumes cards; with --wait, after it has ended. Used by the commands that make or show runs.
import type { ResumeRunBody } from '../api/client/client-bodies.ts';
import type { Answer } from '../api/client/client-calls.ts';
import type { CommandContext, OptionSpec } from './command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from './exit-codes.ts';
import { follow } from './follow.ts';
import type { WaitOptions } from './follow-trigger.ts';
import { plainText } from './output/line.ts';
import { printAnswer } from './output/print.ts';
import { ProgressBar } from './output/progress-bar.ts';
import type { Colour } from './output/style.ts';
import { fieldList, listTable } from './output/table.ts';

export const RUN_WAIT_OPTION: OptionSpec = {
  flags: '--wait',
  doc: 'wait until the run has ended; exit code 1 if a card failed or the run was cancelled',
};

/** @param run the latest answer of the daemon. @returns the exit code: a run without cards answers no. */
export async function showRun(
  context: CommandContext,
  run: Answer<ResumeRunBody>,
  { wait }: WaitOptions,
): Promise<number> {
  const answer = wait === true && isOpen(run.body) ? await untilEnded(context, run.body) : run;
  await printAnswer(context, answer, resumeRunFields);
  const { status, failed, total } = answer.body;
  if (total === 0) return EXIT_NEGATIVE;
  return wait === true && (failed > 0 || status === 'cancelled') ? EXIT_NEGATIVE : EXIT_OK;
}

async function untilEnded(
  context: CommandContext,
  { id, total: expected }: ResumeRunBody,
): Promise<Answer<ResumeRunBody>> {
  const bar = new ProgressBar(context.io, 'resuming', expected);
  let held: string | null = null;
  try {
    return await follow(context, {
      read: (client) => client.resumeRun(id),
      isDone: (body) => {
        if (body.waits_for !== null && body.waits_for !== held) {
          bar.clear();
          context.io.stderr.write(`cardpoll: waiting: ${plainText(body.waits_for)}\n`);
        }
        held = body.waits_for;
        bar.update(body.total - body.waiting);
        return !isOpen(body);
      },
      goesOn:
        `run ${id} continues: \`cardpoll stops runs show ${id} --wait\` follows it, ` +
        `\`cardpoll stops runs cancel ${id}\` cancels it`,
    });
  } finally {
    bar.clear();
  }
}

function isOpen({ status }: ResumeRunBody): boolean {
  return status === 'running' || status === 'filling';
}

const RUN_STATES: Partial<Record<ResumeRunBody['status'], Colour>> = {
  completed: 'green',
  cancelled: 'yellow',
};

export const resumeRunTable = listTable<ResumeRunBody>((style) => [
  { header: 'RUN', cell: (row) => style.text(row.id), least: 36 },
  { header: 'STATUS', cell: (row) => style.text(row.status, RUN_STATES[row.status]) },
  { header: 'TOTAL', cell: (row) => style.number(row.total), drop: 6 },
  { header: 'WAITING', cell: (row) => style.number(row.waiting), drop: 8 },
  { header: 'RESUMED', cell: (row) => style.number(row.resumed), drop: 5 },
  { header: 'FAILED', cell: (row) => style.failures(row.failed), drop: 9 },
  { header: 'BY', cell: (row) => style.text(row.by), least: 8, drop: 4 },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12, drop: 3 },
  { header: 'CREATED', cell: (row) => style.time(row.created_at), drop: 7 },
  { header: 'FINISHED', cell: (row) => style.time(row.finished_at), drop: 2 },
  { header: 'WAITS FOR', cell: (row) => style.text(row.waits_for), drop: 1 },
]);

export const resumeRunFields = fieldList<ResumeRunBody>((run, style) => [
  ['run', style.text(run.id)],
  ['status', style.text(run.status, RUN_STATES[run.status])],
  ['total', style.number(run.total)],
  ...(run.status === 'filling' ? [['filled', style.number(run.filled)] as const] : []),
  ['waiting', style.number(run.waiting)],
  ['resumed', style.number(run.resumed)],
  ['already running', style.number(run.already_running)],
  ['failed', style.failures(run.failed)],
  ['cancelled', style.number(run.cancelled)],
  ['skipped', style.number(run.skipped)],
  ['reason', style.text(run.reason)],
  ['stop again', style.text(run.stop_again ? 'yes' : 'no')],
  ['by', style.text(run.by)],
  ['created', style.time(run.created_at)],
  ['finished', style.time(run.finished_at)],
  ['last error', style.text(run.last_error)],
  ['waits for', style.text(run.waits_for)],
]);
