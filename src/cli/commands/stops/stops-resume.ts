// `cardpoll stops resume`: resumes stopped cards: a list, those that cardpoll stopped since a time, or those that are now within
// their package; `stops runs`: the progress of these runs, and how to cancel one. `cardpoll cards resume` shows its run in the
// same way.
import type { Answer } from '../../../api/client/client-calls.ts';
import { text } from '../../../config/kinds.ts';
import { plainText } from '../../../domain/plain-text.ts';
import { cardCount } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../../platform/exit-codes.ts';
import type {
  ResumeOrderBody,
  ResumePreviewBody,
  ResumeRunBody,
  ResumeSelectionBody,
} from '../../../resources/stops.ts';
import type { Colour } from '../../../terminal/style.ts';
import { fieldList, listTable } from '../../../terminal/table.ts';
import { ask, showList, showUnlessOver } from '../../ask.ts';
import {
  type ArgumentSpec,
  type CommandContext,
  type CommandSpec,
  defineCommand,
  type OptionSpec,
  type OptionsOf,
} from '../../command.ts';
import { CONFIRM_OPTIONS, confirm } from '../../confirm.ts';
import { follow, type WaitOptions } from '../../follow.ts';
import { namesIn } from '../../named.ts';
import { printAnswer } from '../../output/print.ts';
import { ProgressBar } from '../../output/progress-bar.ts';
import { pastRange } from '../../past-time.ts';
import {
  CARDS_ARGUMENT,
  CARRIER_OPTION,
  REASON_OPTION,
  readCardIds,
  resumeOrderOf,
  SINCE_OPTION,
  STOP_AGAIN_OPTION,
} from './stop-options.ts';

export const RUN_WAIT_OPTION = {
  flags: '--wait',
  doc: 'wait until the run has ended; exit code 1 if one of its cards is cut off still',
} as const satisfies OptionSpec;

const WITHIN_OPTION = {
  flags: '--within',
  doc: 'cards that cardpoll stopped and that are within their package by now, 100,000 at most',
} as const satisfies OptionSpec;

const RESUME_OPTIONS = [
  SINCE_OPTION,
  WITHIN_OPTION,
  CARRIER_OPTION,
  REASON_OPTION,
  STOP_AGAIN_OPTION,
  RUN_WAIT_OPTION,
  ...CONFIRM_OPTIONS,
] as const;
type ResumeOptions = OptionsOf<typeof RESUME_OPTIONS>;

export const resume = defineCommand({
  name: 'resume',
  summary:
    'Resume cards, all that cardpoll stopped since a time, or those within their package by now; exit code 1 if there is none',
  examples: [
    'cardpoll stops resume --since 2h --reason "wrong readings"  # shows how many cards, then asks',
    'cardpoll stops resume --since 2h --carrier-id 7 --reason "wrong readings" --dry-run  # only shows it',
    'cardpoll stops resume --within --reason "bought more"  # what is within its package by now; asks',
    'cardpoll stops resume 42 4711 --reason "customer paid" --wait  # two cards, and waits for them',
  ],
  arguments: [CARDS_ARGUMENT],
  options: RESUME_OPTIONS,
  run: async (context, { args: [cards], options }) => {
    requireOne(cards, options);
    const selection = await readSelection(context, cards, options);
    const order = resumeOrderOf(options);
    if (options.dryRun === true || (cards.length === 0 && options.yes !== true)) {
      const trial = { ...order, dry_run: true } as const;
      const preview = await ask(context, 'counting', (client) => client.previewResume(selection, trial));
      if (preview.body.total === 0 && options.dryRun !== true) {
        context.io.stderr.write('cardpoll: there is no card to resume\n');
        return EXIT_NEGATIVE;
      }
      await confirm(context, planOf(preview.body, selection, order), options);
    }
    const run = await ask(context, 'making the run', (client) => client.resumeStopped(selection, order));
    return showRun(context, run, options);
  },
});

function requireOne(cards: readonly string[], { since, within = false, carrierId }: ResumeOptions): void {
  if ([cards.length > 0, since !== undefined, within].filter(Boolean).length !== 1) {
    throw new CardpollError('usage', 'cards_missing', 'give either cards, --since or --within');
  }
  if (cards.length > 0 && carrierId !== undefined) {
    throw new CardpollError('usage', 'carrier_without_since', '--carrier-id goes with --since or --within');
  }
}

async function readSelection(
  context: CommandContext,
  cards: readonly string[],
  { since, within = false, carrierId }: ResumeOptions,
): Promise<ResumeSelectionBody> {
  const ofCarrier = carrierId === undefined ? {} : { carrier_id: carrierId };
  if (within) return { within, ...ofCarrier };
  const range = await pastRange(context, { since });
  if (range.since === undefined) return { card_ids: await readCardIds(context, cards) };
  return { since: range.since, ...ofCarrier };
}

function planOf(
  { total, skipped }: ResumePreviewBody,
  selection: ResumeSelectionBody,
  order: ResumeOrderBody,
): string[] {
  return [
    `Resume ${cardCount(total)}${selectionText(selection)}.`,
    ...(skipped === 0 ? [] : [`${cardCount(skipped)} skipped: unknown, or waiting in another run.`]),
    'They are called at the pace of package polls, within its limits and the breakers of the gateway.',
    order.stop_again || 'within' in selection
      ? 'Each may be stopped again in the month, by a reading taken after the resume.'
      : 'They are not stopped again in the month (--stop-again allows it).',
  ];
}

function selectionText(selection: ResumeSelectionBody): string {
  if ('card_ids' in selection) return '';
  const carrier = selection.carrier_id === undefined ? '' : ` of carrier ${selection.carrier_id}`;
  return 'since' in selection
    ? `${carrier} that cardpoll stopped since ${selection.since}`
    : `${carrier} that cardpoll stopped and that are within their package by now`;
}

const RUN_ID = {
  name: '<run_id>',
  doc: 'id of the run, from `cardpoll stops runs`',
  kind: text('run id'),
  names: namesIn(
    (client) => client.resumeRuns(),
    ({ id }) => id,
  ),
} as const satisfies ArgumentSpec;

const list = defineCommand({
  name: 'list',
  summary: 'Show the latest runs, newest first',
  isDefault: true,
  run: (context) =>
    showList(context, 'reading runs', (client) => client.resumeRuns(), {
      table: resumeRunTable,
      empty: 'no cards were resumed yet: cardpoll stops resume --since 2h --reason "..."',
    }),
});

const show = defineCommand({
  name: 'show',
  summary: 'Show the progress of a run, and why it does not move',
  arguments: [RUN_ID],
  options: [RUN_WAIT_OPTION],
  run: async (context, { args: [id], options }) => {
    const run = await ask(context, 'reading the run', (client) => client.resumeRun(id));
    return showRun(context, run, options);
  },
});

const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel a run: cards that wait stay stopped; exit code 1 if it has already ended',
  arguments: [RUN_ID],
  run: (context, { args: [id] }) =>
    showUnlessOver(context, 'cancelling', (client) => client.cancelResumeRun(id), resumeRunFields),
});

export const runs: CommandSpec = {
  name: 'runs',
  summary: 'Show, follow and cancel runs that resume cards (default: list)',
  examples: [
    'cardpoll stops runs  # the latest runs',
    'cardpoll stops runs show 0f8fad5b-d9cb-469f-a165-70867728950e --wait  # wait until it has finished',
    'cardpoll stops runs cancel 0f8fad5b-d9cb-469f-a165-70867728950e  # cards that wait are not resumed',
  ],
  subcommands: [list, show, cancel],
};

/**
 * Shows a run; with --wait, after it has ended.
 * @param run the latest answer of the daemon. @returns the exit code: a run without cards answers no.
 */
export async function showRun(
  context: CommandContext,
  run: Answer<ResumeRunBody>,
  { wait }: WaitOptions,
): Promise<number> {
  const answer = wait === true && isOpen(run.body) ? await untilEnded(context, run.body) : run;
  await printAnswer(context, answer, resumeRunFields);
  const { status, cut_off, total } = answer.body;
  if (status !== 'running' && cut_off > 0) context.io.stderr.write(`cardpoll: ${stillCutOff(answer.body)}\n`);
  return total === 0 || (wait === true && cut_off > 0) ? EXIT_NEGATIVE : EXIT_OK;
}

function stillCutOff({ cut_off, not_resumed, since, carrier_id }: ResumeRunBody): string {
  const carrier = carrier_id === null ? '' : ` --carrier-id ${carrier_id}`;
  const cards =
    since === null || not_resumed.length === cut_off
      ? not_resumed.map(({ card_id }) => card_id).join(' ')
      : `--since ${since}${carrier}`;
  return `cut off still: ${cardCount(cut_off)}: cardpoll stops resume ${cards || 'CARD...'} --reason "..."`;
}

function untilEnded(context: CommandContext, { id, total: expected }: ResumeRunBody) {
  const bar = new ProgressBar(context.io, 'resuming', expected);
  let held: string | null = null;
  return follow(context, {
    bar,
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
    whatContinues:
      `run ${id} continues: \`cardpoll stops runs show ${id} --wait\` follows it, ` +
      `\`cardpoll stops runs cancel ${id}\` cancels it`,
  });
}

function isOpen({ status }: ResumeRunBody): boolean {
  return status === 'running';
}

const RUN_STATES: Partial<Record<ResumeRunBody['status'], Colour>> = {
  completed: 'green',
  cancelled: 'yellow',
};

const resumeRunTable = listTable<ResumeRunBody>((style) => [
  { header: 'RUN', cell: (row) => style.text(row.id), least: 36 },
  { header: 'STATUS', cell: (row) => style.text(row.status, RUN_STATES[row.status]) },
  { header: 'TOTAL', cell: (row) => style.number(row.total), drop: 6 },
  { header: 'CUT OFF', cell: (row) => style.failures(row.cut_off) },
  { header: 'WAITING', cell: (row) => style.number(row.waiting), drop: 8 },
  { header: 'RESUMED', cell: (row) => style.number(row.resumed), drop: 5 },
  { header: 'FAILED', cell: (row) => style.failures(row.failed), drop: 9 },
  { header: 'BY', cell: (row) => style.text(row.by), least: 8, drop: 4 },
  { header: 'REASON', cell: (row) => style.text(row.reason), least: 12, drop: 3 },
  { header: 'CREATED', cell: (row) => style.time(row.created_at), drop: 7 },
  { header: 'FINISHED', cell: (row) => style.time(row.finished_at), drop: 2 },
  { header: 'WAITS FOR', cell: (row) => style.text(row.waits_for), drop: 1 },
]);

const resumeRunFields = fieldList<ResumeRunBody>((run, style) => [
  ['run', style.text(run.id)],
  ['status', style.text(run.status, RUN_STATES[run.status])],
  ['total', style.number(run.total)],
  ['cut off still', style.failures(run.cut_off)],
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
  ...run.not_resumed.map(
    ({ card_id, state, error }) => [`card ${card_id}`, style.text(`${state}: ${error}`)] as const,
  ),
  ['error of a card', style.text(run.last_error)],
  ['waits for', style.text(run.waits_for)],
]);
