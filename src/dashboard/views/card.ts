// The view of a card: for each task type why it is or is not polled, as `cardpoll explain` shows it.
import type { ExplanationBody } from '../../api/client/client-bodies.ts';
import { grouped, measure, relative, seconds } from '../format.ts';
import {
  fact,
  hint,
  type Line,
  MARK,
  missing,
  plain,
  type Room,
  span,
  stacked,
  type Tone,
  wrapped,
} from '../layout.ts';
import type { State } from '../state.ts';

type Task = ExplanationBody['tasks'][number];

const STATES: Record<Task['state'], { readonly symbol: string; readonly tone: Tone }> = {
  scheduled: { symbol: '●', tone: 'green' },
  running: { symbol: '●', tone: 'green' },
  due: { symbol: '▲', tone: 'yellow' },
  backoff: { symbol: '▲', tone: 'yellow' },
  paused: { symbol: '■', tone: 'yellow' },
  held: { symbol: '✖', tone: 'red' },
  not_offered: { symbol: '■', tone: 'dim' },
  disabled: { symbol: '■', tone: 'yellow' },
  unmatched: { symbol: '■', tone: 'yellow' },
  not_loaded: { symbol: '▲', tone: 'yellow' },
};
const INDENT = 4;

export function cardLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.card;
  if (body === null) return [missing(`card ${state.card ?? ''}`, problem)];
  const nowMs = Date.parse(body.generated_at);
  const tasks = body.tasks.flatMap((task) =>
    taskPart(task, task.task_type === state.taskType, nowMs, columns),
  );
  const stale = problem === null ? [] : [plain(`not read again: ${problem}`, 'red')];
  return stacked([[...stale, ...cardFacts(body, nowMs)], tasks, furtherFacts(body, nowMs)], rows);
}

function cardFacts({ card }: ExplanationBody, nowMs: number): Line[] {
  const allowance = card.allowance_mb === null ? 'no limit' : `${grouped(card.allowance_mb)} MB`;
  const over = card.allowance_mb !== null && card.used_mb_month > card.allowance_mb;
  const used = `${measure(card.used_mb_month)} MB of ${allowance} in ${card.usage_month}`;
  const polled = Object.entries(card.last_polled_at);
  return [
    [
      span(`card ${card.card_id}`, 'bold'),
      span(`  ${card.iccid}  carrier ${card.carrier_id}  status ${card.status}`),
      card.real_name_verified ? span('  ● verified', 'green') : span('  ▲ not verified', 'yellow'),
      ...(card.stopped ? [span('  ■ stopped', 'yellow')] : []),
    ],
    fact('usage', span(used, over ? 'red' : undefined)),
    fact('polled', ...polled.map(([type, at]) => span(`${type} ${relative(at, nowMs)}  `))),
  ];
}

/** The state and its sentence, and for the picked task type the details. */
function taskPart(task: Task, isPicked: boolean, nowMs: number, columns: number): Line[] {
  const { state, task_type, config, text, command } = task;
  const { symbol, tone } = STATES[state];
  const polling =
    config === null
      ? ''
      : `  config ${config.id} "${config.name}", every ${seconds(config.interval_seconds)}`;
  const below = [
    ...wrapped(text, columns - INDENT),
    ...(command === null ? [] : [hint(command)]),
    ...(isPicked ? detailLines(task, nowMs) : []),
  ];
  return [
    [
      isPicked ? span(MARK, 'picked') : span('  '),
      span(`${symbol} ${task_type} ${state.replace('_', ' ')}`, tone),
      span(polling, 'dim'),
    ],
    ...below.map((line): Line => [span(' '.repeat(INDENT)), ...line]),
  ];
}

function detailLines(task: Task, nowMs: number): Line[] {
  const { ring, last_failure: failure, next_due_at, last_succeeded_at, overdue_seconds } = task;
  const place =
    ring === null
      ? 'in no ring'
      : `bucket ${ring.bucket} of ${ring.buckets}${ring.member ? '' : ', not a member'}`;
  const late = overdue_seconds === null ? '' : `, overdue ${seconds(overdue_seconds)}`;
  const retry = failure?.next_try_at ? `, next try ${relative(failure.next_try_at, nowMs)}` : '';
  return [
    [
      span(`due ${relative(next_due_at, nowMs)}`),
      span(late, 'yellow'),
      span(`  ${place}  last success ${relative(last_succeeded_at, nowMs)}`),
    ],
    ...(failure === null
      ? []
      : [
          [
            span(`failed ${relative(failure.at, nowMs)}: ${failure.reason}`, 'red'),
            span(`, ${failure.message}, ${measure(failure.duration_ms)} ms, ${failure.attempts} in a row`),
            span(retry),
          ],
        ]),
    ...task.other_configs.map(({ id, name, reason }) =>
      plain(`not by config ${id} "${name}": ${reason}`, 'dim'),
    ),
  ];
}

function furtherFacts({ usage, stops, open_triggers, logs_command }: ExplanationBody, nowMs: number): Line[] {
  const months = usage.map(({ month, used_mb }) => `${month} ${measure(used_mb)} MB`).join(', ');
  return [
    ...(usage.length === 0 ? [] : [fact('months', span(months))]),
    ...stops
      .slice(0, 3)
      .map(({ at, action, detail }) => fact(action, span(`${relative(at, nowMs)}  ${detail}`))),
    ...open_triggers.map(({ trigger_id, kind, task_type, created_at }) =>
      fact(
        'trigger',
        span(`${trigger_id} ${kind.replace('_', ' ')}, ${task_type}, made ${relative(created_at, nowMs)}`),
      ),
    ),
    fact('its logs', span(logs_command, 'accent')),
  ];
}
