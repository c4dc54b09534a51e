// `cardpoll explain`: why a card is or is not polled. `cards show -v` prints the same.
import type { ExplanationBody } from '../../../api/client/client-bodies.ts';
import { text } from '../../../config/kinds.ts';
import { roundedMb } from '../../../domain/numbers.ts';
import { showAnswer } from '../../ask.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../../command.ts';
import { offersRealname } from '../../output/reports/card-fields.ts';
import { type Colour, commandLines, INDENT, type Style, sentenceLines, span } from '../../output/style.ts';
import { recordLine, textOf } from '../../output/table.ts';

export const CARD_ARGUMENT = {
  name: '<card>',
  doc: 'card id, or iccid (18 to 22 digits)',
  kind: text('card id or iccid'),
} as const satisfies ArgumentSpec;

export function explainCard(context: CommandContext, card: string): Promise<number> {
  return showAnswer(context, 'looking the card up', (client) => client.explain(card), explanationText);
}

export const explain = defineCommand({
  name: 'explain',
  summary: 'Explain why a card is or is not polled, for each task type',
  examples: [
    'cardpoll explain 42  # by card id',
    'cardpoll explain 89860012345678901234  # by iccid',
    'cardpoll explain 42 -o json  # all details, for programs',
  ],
  arguments: [CARD_ARGUMENT],
  run: (context, { args: [card] }) => explainCard(context, card),
});

type TaskBody = ExplanationBody['tasks'][number];

const SYMBOLS: Record<TaskBody['state'], readonly [symbol: string, colour: Colour]> = {
  scheduled: ['●', 'green'],
  running: ['●', 'green'],
  due: ['▲', 'yellow'],
  backoff: ['▲', 'yellow'],
  not_loaded: ['▲', 'yellow'],
  paused: ['▲', 'yellow'],
  disabled: ['▲', 'yellow'],
  unmatched: ['▲', 'yellow'],
  not_offered: ['■', 'dim'],
  held: ['✖', 'red'],
};

/** As records the task types alone; -o json has the rest. */
function explanationText(body: ExplanationBody, style: Style): string {
  if (!style.forPeople) return body.tasks.map((task) => recordOf(task, style)).join('');
  const parts = [
    cardLines(body, style),
    ...body.tasks.map((task) => taskLines(withoutRepetition(task, body.tasks), style)),
    historyLines(body, style),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function recordOf(task: TaskBody, style: Style): string {
  const { task_type, state, text, command, next_due_at, last_succeeded_at } = task;
  return recordLine([task_type, state, text, command, next_due_at, last_succeeded_at], style);
}

function cardLines({ card, tasks }: ExplanationBody, style: Style): string {
  const unverified = offersRealname(tasks) ? 'not verified' : 'real name not offered';
  const allowance = card.allowance_mb === null ? 'unlimited' : `${card.allowance_mb} MB`;
  const facts = [
    `iccid ${card.iccid}`,
    `carrier ${card.carrier_id}`,
    `status ${card.status}`,
    card.real_name_verified ? 'verified' : unverified,
    card.stopped ? 'STOPPED' : 'not stopped',
    `used ${roundedMb(card.used_mb_month)} of ${allowance} in ${card.usage_month}`,
  ];
  const heading = style.paint(`card ${card.card_id}`, 'bold');
  return textOf([heading, ...sentenceLines(facts.join(', '), style, INDENT)]);
}

function taskLines(task: TaskBody, style: Style): string {
  const [symbol, colour] = SYMBOLS[task.state];
  const details = [scheduleWords(task), pollWords(task, style), failureWords(task, style)];
  const others = task.other_configs.map(({ id, name, reason }) => `not by config ${id} (${name}): ${reason}`);
  const lines = [...details, ...others].filter((line) => line !== '');
  const [first = '', ...more] = sentenceLines(`${task.task_type} ${task.text}`, style, `${symbol} `);
  return textOf([
    style.paint(first, colour),
    ...more,
    ...lines.flatMap((line) => sentenceLines(line, style, INDENT)),
    ...commandLines(task.command, 'bold', style),
  ]);
}

/** One breaker holds several task types back: the first one says why, and what to type. */
function withoutRepetition(task: TaskBody, tasks: ExplanationBody['tasks']): TaskBody {
  const first = tasks.find(({ state, text }) => state === 'held' && text === task.text);
  if (task.state !== 'held' || first === undefined || first.task_type === task.task_type) return task;
  return { ...task, text: `is held back for the same reason as ${first.task_type}`, command: null };
}

function scheduleWords({ config, ring, next_due_at: due }: TaskBody): string {
  if (config === null) return '';
  const place = ring === null ? 'no ring yet' : `bucket ${ring.bucket} of ${ring.buckets} of its ring`;
  const when = due === null ? '' : `, due at ${due}`;
  return `config ${config.id} (${config.name}), every ${span(config.interval_seconds)}, ${place}${when}`;
}

function pollWords({ last_succeeded_at: at }: TaskBody, style: Style): string {
  return at === null ? 'never polled successfully' : `last success ${style.time(at).text}`;
}

function failureWords({ last_failure: failure }: TaskBody, style: Style): string {
  if (failure === null) return '';
  const { at, reason, message, duration_ms, attempts } = failure;
  const times = attempts === 1 ? '' : `, ${attempts} in a row`;
  return `last failure ${style.time(at).text}${times}: ${reason} after ${Math.round(duration_ms)} ms, ${message}`;
}

function historyLines(body: ExplanationBody, style: Style): string {
  const usage = body.usage.map(({ month, used_mb }) => `${month} ${roundedMb(used_mb)} MB`).join(', ');
  const stops = body.stops.map(({ at, action, detail }) => `${action} ${style.time(at).text}: ${detail}`);
  const triggers = body.open_triggers.map(
    ({ trigger_id, kind, task_type, created_at }) =>
      `open trigger ${trigger_id} (${kind}, ${task_type}) of ${style.time(created_at).text}`,
  );
  const lines = [...(usage === '' ? [] : [`usage: ${usage}`]), ...stops, ...triggers];
  return textOf([
    ...lines.flatMap((line) => sentenceLines(line, style)),
    'log lines:',
    ...commandLines(body.logs_command, 'bold', style),
  ]);
}
