// `cardpoll concurrency`: limits per task type, the limits in force, and advice (output/reports/concurrency-advice.ts).
import { resetChange } from '../../../changes/limits.ts';
import { planLines } from '../../../changes/planned-change.ts';
import { integer, oneOf } from '../../../config/kinds.ts';
import { MAX_CONCURRENCY_BOUNDS } from '../../../domain/limits/operator-limits.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { ConcurrencyBody, ResetBody } from '../../../resources/limits.ts';
import { adviceFor, adviceText } from '../../../terminal/reports/concurrency-advice.ts';
import { listTable, ofItems, ofOne } from '../../../terminal/table.ts';
import { ask, showAnswer } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { ownAnswer, printAnswer, printChange } from '../../output/print.ts';
import { confirmLimit, measuredTask } from './demand-plan.ts';

const TASK_TYPE = {
  name: '<task_type>',
  doc: TASK_TYPES.join(', '),
  kind: oneOf(TASK_TYPES),
} as const satisfies ArgumentSpec;

function list(context: CommandContext): Promise<number> {
  return showAnswer(context, 'reading limits', (client) => client.concurrency(), ofItems(limitTable));
}

const set = defineCommand({
  name: 'set',
  summary: 'Set the limit of a task type for the whole fleet; asks before a drastic change',
  examples: [
    'cardpoll concurrency set realname 150  # takes effect on every instance within a second',
    'cardpoll concurrency set realname 20 --dry-run  # shows the demand and what the limit allows',
    'cardpoll concurrency set realname 20 --yes  # for scripts',
  ],
  arguments: [
    TASK_TYPE,
    {
      name: '<n>',
      doc: `tasks at a time, ${MAX_CONCURRENCY_BOUNDS.min} to ${MAX_CONCURRENCY_BOUNDS.max}`,
      kind: integer(MAX_CONCURRENCY_BOUNDS),
    },
  ],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [taskType, limit], options }) => {
    const task = await measuredTask(context, taskType);
    await confirmLimit(context, task, limit, options);
    const answer = await ask(context, 'setting the limit', (client) =>
      client.setConcurrency(taskType, limit),
    );
    const change = ['limit', task.concurrency.max, answer.body.max_concurrency] as const;
    printChange(context.io, taskType, [change], task.scheduled_cards);
    return printAnswer(context, answer, ofOne(limitTable));
  },
});

const reset = defineCommand({
  name: 'reset',
  summary: 'Reset the running count of a task type that stays high although nothing runs',
  examples: [
    'cardpoll concurrency reset realname  # asks first',
    'cardpoll concurrency reset realname --dry-run  # shows what would happen',
    'cardpoll concurrency reset realname --yes  # for scripts',
  ],
  arguments: [TASK_TYPE],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [taskType], options }) => {
    await confirm(context, async () => planLines(await plannedReset(context, taskType)), options);
    return showAnswer(context, 'resetting', (client) => client.resetConcurrency(taskType), ofOne(resetTable));
  },
});

const resetTable = listTable<ResetBody>((style) => [
  { header: 'TASK', cell: (row) => style.text(row.task_type) },
  { header: 'BEFORE', cell: (row) => style.number(row.previous) },
  { header: 'NOW', cell: (row) => style.number(row.current) },
]);

async function plannedReset(context: CommandContext, taskType: TaskType) {
  const { body } = await ask(context, 'reading limits', (client) => client.concurrency());
  return resetChange(taskType, body.items.find((item) => item.task_type === taskType)?.current ?? 0);
}

const advise = defineCommand({
  name: 'advise',
  summary: 'Recommend limits for the measured response times, and show what was measured',
  run: async (context) => {
    const { body } = await ask(context, 'reading statistics', (client) => client.overview());
    return printAnswer(context, ownAnswer({ items: body.tasks.map(adviceFor) }), ofItems(adviceText));
  },
});

const limitTable = listTable<ConcurrencyBody>((style) => [
  { header: 'TASK', cell: (row) => style.text(row.task_type) },
  { header: 'LIMIT', cell: (row) => style.number(row.max_concurrency) },
  { header: 'RUNNING', cell: (row) => style.number(row.current) },
  { header: 'EFFECTIVE', cell: (row) => style.number(row.effective_concurrency) },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12 },
]);

export const concurrency = defineCommand({
  name: 'concurrency',
  summary: 'Show and change how many tasks run at a time (default: list)',
  examples: [
    'cardpoll concurrency  # limits and running tasks',
    'cardpoll concurrency set realname 150  # takes effect on every instance within a second',
    'cardpoll concurrency advise  # limits that fit the measured response times',
  ],
  subcommands: [
    defineCommand({ name: 'list', summary: 'Show limits and running tasks', run: list }),
    set,
    reset,
    advise,
  ],
  run: list,
});
