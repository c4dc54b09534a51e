// Shows a manual trigger that was made or asked for, after waiting for its end where --wait says so. Used by the
// trigger commands.
import type { Answer, TriggerBody } from '../api/client.ts';
import type { CommandContext, OptionSpec } from './command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from './exit-codes.ts';
import { follow } from './follow.ts';
import { printAnswer } from './output/print.ts';
import { ProgressBar } from './output/progress-bar.ts';
import { triggerFields } from './output/trigger-tables.ts';

export interface WaitOptions {
  readonly wait?: boolean;
}

export const WAIT_OPTION: OptionSpec = {
  flags: '--wait',
  doc: 'wait until all cards are polled; exit code 1 when one failed or the trigger was cancelled',
};

/** @param trigger as the daemon last told. Returns the exit code. */
export async function showTrigger(
  context: CommandContext,
  trigger: Answer<TriggerBody>,
  { wait }: WaitOptions,
): Promise<number> {
  const answer = wait === true && !isOver(trigger.body) ? await untilOver(context, trigger.body) : trigger;
  await printAnswer(context, answer, triggerFields);
  const { status, failed } = answer.body;
  return wait === true && (failed > 0 || status === 'cancelled') ? EXIT_NEGATIVE : EXIT_OK;
}

async function untilOver(
  context: CommandContext,
  { trigger_id: triggerId, total }: TriggerBody,
): Promise<Answer<TriggerBody>> {
  const bar = new ProgressBar(context.io, 'polling', total);
  try {
    return await follow(
      context,
      (client) => client.trigger(triggerId),
      (body) => {
        bar.update(body.succeeded + body.failed);
        return isOver(body);
      },
    );
  } finally {
    bar.clear();
  }
}

function isOver({ status }: TriggerBody): boolean {
  return status === 'completed' || status === 'cancelled';
}
