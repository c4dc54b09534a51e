// Shows a manual trigger; with --wait, after it has finished. Used by the trigger commands.

import type { TriggerBody } from '../api/client/client-bodies.ts';
import type { Answer } from '../api/client/client-calls.ts';
import type { CommandContext, OptionSpec } from './command.ts';
import { EXIT_NEGATIVE, EXIT_OK } from './exit-codes.ts';
import { follow } from './follow.ts';
import { printAnswer } from './output/print.ts';
import { ProgressBar } from './output/progress-bar.ts';
import { triggerFields } from './output/reports/trigger-tables.ts';
import type { FieldsOf } from './output/table.ts';

export interface WaitOptions {
  readonly wait?: boolean;
}

export const WAIT_OPTION: OptionSpec = {
  flags: '--wait',
  doc: 'wait until all cards are polled; exit code 1 if one failed or the trigger was cancelled',
};

/**
 * @param trigger the latest answer of the daemon.
 * @param outcomeOf called when the trigger has finished. @returns the exit code.
 */
export async function showTrigger(
  context: CommandContext,
  trigger: Answer<TriggerBody>,
  { wait }: WaitOptions,
  outcomeOf: (trigger: TriggerBody) => Promise<FieldsOf> = async () => () => [],
): Promise<number> {
  const answer = wait === true && !isOver(trigger.body) ? await untilOver(context, trigger.body) : trigger;
  const outcome = wait === true && context.format === 'table' ? await outcomeOf(answer.body) : () => [];
  await printAnswer(context, answer, (body, style) => triggerFields(body, style, outcome(style)));
  const { status, failed } = answer.body;
  return wait === true && (failed > 0 || status === 'cancelled') ? EXIT_NEGATIVE : EXIT_OK;
}

async function untilOver(
  context: CommandContext,
  { trigger_id: triggerId, total }: TriggerBody,
): Promise<Answer<TriggerBody>> {
  const bar = new ProgressBar(context.io, 'polling', total);
  try {
    return await follow(context, {
      read: (client) => client.trigger(triggerId),
      isDone: (body) => {
        bar.update(body.succeeded + body.failed, earlyNote(body));
        return isOver(body);
      },
      goesOn:
        `trigger ${triggerId} continues: \`cardpoll trigger status ${triggerId} --wait\` follows it, ` +
        `\`cardpoll trigger cancel ${triggerId}\` cancels it`,
    });
  } finally {
    bar.clear();
  }
}

/** Why nothing seems to happen while the gateway does not allow the polls yet. */
function earlyNote({ early, early_until: until }: TriggerBody): string {
  if (until === null) return '';
  const time = new Date(until).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return `${early.toLocaleString('en-US')} too early until ${time}`;
}

function isOver({ status }: TriggerBody): boolean {
  return status === 'completed' || status === 'cancelled';
}
