// Why a card is polled or not, as lines: `cardpoll explain` prints them, and the dashboard shows them.
import { roundedMb } from '../../domain/numbers.ts';
import { failureWord } from '../../domain/stats/failure-word.ts';
import { span } from '../../domain/words.ts';
import type { ExplanationBody } from '../../resources/explanation.ts';
import type { Toned } from '../line.ts';
import { type Colour, INDENT, type Sign, type Style, sentenceLines, signed } from '../style.ts';
import { type OfEach, offersRealname } from './card-fields.ts';

type TextLine = readonly Toned<Colour>[];
type TaskBody = ExplanationBody['tasks'][number];

const STATE_SIGNS: Record<TaskBody['state'], Sign> = {
  ...{ scheduled: 'good', running: 'good', due: 'warning', backoff: 'warning', not_loaded: 'warning' },
  ...{ paused: 'paused', disabled: 'warning', unmatched: 'warning', not_offered: 'off', held: 'bad' },
};

/** @param isDetailed names the task types with details of their polls, and why other configs do not match. */
export function explanationParts(
  body: ExplanationBody,
  style: Style,
  isDetailed: (task: TaskBody) => boolean = () => true,
) {
  return {
    card: cardLines(body, style),
    tasks: body.tasks.map((task) => taskLines(withoutRepetition(task, body.tasks), style, isDetailed(task))),
    history: historyLines(body, style),
  };
}

function cardLines({ card, tasks, allowance: origin }: ExplanationBody, style: Style): TextLine[] {
  const unverified = offersRealname(tasks) ? 'not verified' : 'real name not offered';
  const allowance = card.allowance_mb === null ? 'unlimited' : `${card.allowance_mb} MB`;
  const { card_id: heading, ...attributes }: OfEach<string | null> = {
    card_id: `card ${card.card_id}`,
    iccid: `iccid ${card.iccid}`,
    // An older daemon does not send it.
    vendor_id: (card.vendor_id ?? null) === null ? null : `vendor id ${card.vendor_id}`,
    carrier_id: `carrier ${card.carrier_id}`,
    status: `status ${card.status}`,
    real_name_verified: card.real_name_verified ? 'verified' : unverified,
    stopped: card.stopped ? 'STOPPED' : 'not stopped',
    allowance_mb: `used ${roundedMb(card.used_mb_month)} of ${allowance} in ${card.usage_month}`,
  };
  const facts = Object.values(attributes).filter((fact) => fact !== null);
  return [
    [style.text(heading, 'bold')],
    ...said(facts.join(', '), style, INDENT),
    ...allowanceLines(allowance, origin ?? null, style),
  ];
}

/** Who set the allowance. An older daemon does not send it. */
function allowanceLines(words: string, origin: ExplanationBody['allowance'], style: Style): TextLine[] {
  if (origin === null) return [];
  const { at, imported_by: by, audit_id: id } = origin;
  const when = style.time(at).text;
  const entry = id === null ? '' : ` (audit entry ${id})`;
  const how =
    by.length === 0 ? `set ${when}, by whom is not known` : `imported ${when} by ${by.join(' or ')}${entry}`;
  return said(`allowance ${words}: ${how}`, style, INDENT);
}

function taskLines(task: TaskBody, style: Style, isDetailed: boolean): TextLine[] {
  const { text: symbol, tone: colour } = signed(STATE_SIGNS[task.state]);
  const others = task.other_configs.map(
    ({ id, name, reason }) => `config ${id} (${name}) does not apply: it ${reason}`,
  );
  const details = [pollWords(task, style), failureWords(task, style), ...others];
  const lines = [scheduleWords(task, style), ...(isDetailed ? details : [])].filter((line) => line !== '');
  const [first = [], ...more] = said(`${task.task_type} ${task.text}`, style, `${symbol} `);
  return [
    first.map(({ text }) => ({ text, tone: colour })),
    ...more,
    ...lines.flatMap((line) => said(line, style, INDENT)),
    ...(task.command === null ? [] : [typed(task.command, style)]),
  ];
}

/** One breaker may hold several task types back: only the first one shows the reason and the command. */
function withoutRepetition(task: TaskBody, tasks: ExplanationBody['tasks']): TaskBody {
  const first = tasks.find(({ state, text }) => state === 'held' && text === task.text);
  if (task.state !== 'held' || first === undefined || first.task_type === task.task_type) return task;
  return { ...task, text: `is held back for the same reason as ${first.task_type}`, command: null };
}

function scheduleWords({ config, ring, next_due_at: due }: TaskBody, style: Style): string {
  if (config === null) return '';
  const outside = ring?.member === true ? '' : ', not in its schedule yet';
  const when = due === null ? '' : `, due ${style.time(due).text}`;
  return `config ${config.id} (${config.name}), every ${span(config.interval_seconds)}${outside}${when}`;
}

function pollWords({ last_succeeded_at: at }: TaskBody, style: Style): string {
  return at === null ? 'never polled successfully' : `last success ${style.time(at).text}`;
}

function failureWords({ last_failure: failure }: TaskBody, style: Style): string {
  if (failure === null) return '';
  const { at, reason, message, duration_ms, attempts } = failure;
  const times = attempts <= 1 ? '' : `, ${attempts} in a row`;
  return `last failure ${style.time(at).text}${times}: ${failureWord(reason)} after ${Math.round(duration_ms)} ms, ${message}`;
}

function historyLines(body: ExplanationBody, style: Style): TextLine[] {
  const usage = body.usage.map(({ month, used_mb }) => `${month} ${roundedMb(used_mb)} MB`).join(', ');
  const stops = body.stops.map(({ at, action, detail }) => `${action} ${style.time(at).text}: ${detail}`);
  const triggers = body.open_triggers.map(
    ({ trigger_id, kind, task_type, created_at }) =>
      `open trigger ${trigger_id} (${kind}, ${task_type}) of ${style.time(created_at).text}`,
  );
  const lines = [...(usage === '' ? [] : [`usage: ${usage}`]), ...stops, ...triggers];
  return [...lines.flatMap((line) => said(line, style)), ...logLines(body, style)];
}

/** An older daemon has one command, and may not send the location of its logs. */
function logLines(body: ExplanationBody, style: Style): TextLine[] {
  const { logs_commands = [], logs_command, logs_on: hosts = [] } = body as Partial<ExplanationBody>;
  const commands = logs_commands.length > 0 ? logs_commands : [{ command: `${logs_command}`, hosts }];
  return commands.flatMap(({ command, hosts: on }) => [
    ...said(logsWords(on, command), style),
    typed(command, style),
  ]);
}

const HOSTS_SHOWN = 3;

function logsWords(hosts: readonly string[], command: string): string {
  if (hosts.length === 0) return 'log lines:';
  const more = hosts.length > HOSTS_SHOWN ? ` and ${hosts.length - HOSTS_SHOWN} more` : '';
  const where = `on ${hosts.slice(0, HOSTS_SHOWN).join(', ')}${more}`;
  return command.startsWith('journalctl')
    ? `log lines, on standard output of the daemon ${where}; under systemd:`
    : `log lines, ${where}:`;
}

function said(text: string, style: Style, before?: string): TextLine[] {
  return sentenceLines(text, style, before).map((line) => [{ text: line }]);
}

/** A command to run, on one line, so that it can be copied. */
function typed(command: string, style: Style): TextLine {
  return [{ text: INDENT }, style.text(command, 'bold')];
}
