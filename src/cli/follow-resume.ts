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
import { resumeRunFields } from './output/reports/stop-tables.ts';

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
