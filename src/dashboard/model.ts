// Computes the next state of the dashboard from a state and an event. Pure. From the state the session reads its tasks (`job`,
// `exit`) and the data it needs (`sourcesOf`).
import { acknowledgeChange } from '../changes/alerts.ts';
import { cleanupChange } from '../changes/cleanup.ts';
import { switchChange } from '../changes/configs.ts';
import { resetChange, resumeChange } from '../changes/limits.ts';
import { cancelChange, pollChange } from '../changes/triggers.ts';
import { withoutSteering } from '../domain/plain-text.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import type { OverviewBody, TaskBody } from '../resources/stats.ts';
import { nextHappening } from './hour.ts';
import { type Binding, bindingOf, type Command, modeOf, refusalOf } from './keymap.ts';
import { keysOf, type ListView, nextSort, pickedOf } from './lists.ts';
import { back, entered, filtered, samePicked, shown } from './moves.ts';
import { placeBehind } from './opening.ts';
import {
  CARD_QUESTION,
  FILTER_QUESTION,
  intervalQuestion,
  limitQuestion,
  pauseQuestion,
  silenceQuestion,
} from './questions.ts';
import { type Event, hasStrip, type Proposal, type Question, type State, TAB_ORDER } from './state.ts';
import { decisionQuestion, modeQuestion, releaseAllQuestion } from './stop-questions.ts';

export function reduce(state: State, event: Event): State {
  switch (event.type) {
    case 'key':
      return onKey(state, event.key);
    case 'pasted':
      return typed(state, event.text);
    case 'resized':
      return { ...state, columns: event.columns, rows: event.rows };
    case 'tick':
      return { ...state, nowMs: event.nowMs };
    case 'received':
      return received(state, event);
    case 'failed':
      return failed(state, event);
    case 'read-only':
      return { ...state, readOnly: true };
    case 'planned':
      return answeredPlan(state, event);
    case 'done':
      return { ...state, job: null, notice: { text: event.text, tone: 'green' } };
    case 'refused':
      return {
        ...state,
        job: null,
        readOnly: state.readOnly || event.readOnly,
        notice: { text: event.problem, tone: 'red' },
      };
  }
}

function received(state: State, { reading, atMs }: Extract<Event, { type: 'received' }>): State {
  const data = { ...state.data, [reading.source]: { body: reading.body, atMs, problem: null } };
  const nowMs = Math.max(state.nowMs, atMs);
  const nextTryAtMs = reading.source === 'overview' ? null : state.nextTryAtMs;
  return samePicked(state, { ...state, data, nowMs, nextTryAtMs });
}

function failed(state: State, { source, problem, nextTryAtMs }: Extract<Event, { type: 'failed' }>): State {
  const data = { ...state.data, [source]: { ...state.data[source], problem } };
  return { ...state, data, nextTryAtMs: source === 'overview' ? nextTryAtMs : state.nextTryAtMs };
}

/** Shows a plan that the daemon had to compute, unless the operator has begun to type something else. */
function answeredPlan(state: State, { change }: Extract<Event, { type: 'planned' }>): State {
  const idle = { ...state, job: null, notice: null };
  return state.prompt === null && state.confirm === null && !state.help ? proposed(idle, change) : idle;
}

function onKey(state: State, key: string): State {
  const binding = bindingOf(state, key);
  if (binding !== null) return obey(state, binding, key);
  return modeOf(state) === 'prompt' && [...key].length === 1 ? typed(state, key) : state;
}

function obey(state: State, { command, changes }: Binding, key: string): State {
  const refusal = changes === true ? refusalOf(state) : null;
  if (refusal !== null) return { ...state, notice: { text: refusal, tone: 'red' } };
  return COMMANDS[command](state, key);
}

const COMMANDS: Record<Command, (state: State, key: string) => State> = {
  quit: (state) => ({ ...state, exit: 'quit' }),
  interrupt: (state) => ({ ...state, exit: 'interrupted' }),
  help: (state) => ({ ...state, help: !state.help }),
  redraw: (state) => ({ ...state, redraws: state.redraws + 1 }),
  yield: (state) => ({ ...state, yields: state.yields + 1 }),
  hour: (state) => {
    const one = hasStrip(state) ? nextHappening(state, '') : null;
    if (one !== null) return { ...state, mark: one.id, notice: null };
    return noticed(
      state,
      hasStrip(state) ? 'nothing happened in the last hour' : 'the last hour needs 120x40',
    );
  },
  'move-mark': (state, key) => ({ ...state, mark: nextHappening(state, key)?.id ?? null, notice: null }),
  'leave-hour': (state) => ({ ...state, mark: null, notice: null }),
  'next-view': (state) => shown(state, neighbour(TAB_ORDER, state.view, 1)),
  'previous-view': (state) => shown(state, neighbour(TAB_ORDER, state.view, -1)),
  show: (state, key) => shown(state, TAB_ORDER[Number(key) - 1] ?? state.view),
  up: (state) => moved(state, -1),
  down: (state) => moved(state, 1),
  left: (state) => otherTask(state, -1),
  right: (state) => otherTask(state, 1),
  open: (state) => {
    const place = placeBehind(state) ?? {};
    return typeof place === 'string' ? noticed(state, place) : entered(state, place);
  },
  back,
  filter: (state) => {
    const prompt = { question: FILTER_QUESTION, text: state.filter, problem: null };
    return { ...state, prompt, notice: null };
  },
  sort: (state) => samePicked(state, { ...state, sort: nextSort(state) }),
  reverse: (state) => {
    const { column, isReversed } = state.sort ?? { column: 0, isReversed: false };
    return samePicked(state, { ...state, sort: { column, isReversed: !isReversed } });
  },
  search: (state) => proposed(state, CARD_QUESTION),
  limit: (state) => onTask(state, limitQuestion),
  pause: (state) => onTask(state, pauseQuestion),
  resume: (state) =>
    onTask(state, (task, { pauses, generated_at }) => resumeChange(task, pauses, Date.parse(generated_at))),
  reset: (state) =>
    onTask(state, ({ task_type, concurrency }) => resetChange(task_type, concurrency.current)),
  switch: (state) => onPicked(state, 'configs', (config) => switchChange(config, config.status !== 1)),
  interval: (state) => onPicked(state, 'configs', intervalQuestion),
  cancel: (state) => onPicked(state, 'triggers', cancelChange),
  poll: (state) => {
    const isListed = state.view === 'task';
    const card = isListed ? pickedOf(state, 'task') : state.data.card.body?.card;
    if (card === undefined)
      return noticed(
        state,
        isListed ? `no card of ${state.taskType} fails` : 'nothing is known of the card yet',
      );
    return proposed(state, pollChange(state.taskType, card.card_id));
  },
  acknowledge: (state) => onPicked(state, 'alerts', acknowledgeChange),
  silence: (state) => onPicked(state, 'alerts', silenceQuestion),
  'stop-mode': (state) => proposed(state, modeQuestion(state.data.overview.body)),
  release: (state) => onPicked(state, 'stops', decisionQuestion('release')),
  dismiss: (state) => onPicked(state, 'stops', decisionQuestion('dismiss')),
  'release-all': (state) => proposed(state, releaseAllQuestion(state.data.stops.body)),
  cleanup: (state) =>
    state.job !== null
      ? state
      : {
          ...noticed(state, 'counting what has expired ...', 'dim'),
          job: async (client) => {
            const { body } = await client.cleanupPreview();
            return { type: 'planned', change: cleanupChange(body) };
          },
        },
  accept: (state) => {
    const { confirm: change } = state;
    if (change === null || state.job !== null) return state;
    const closed = { ...state, confirm: null };
    const refusal = refusalOf(state);
    if (refusal !== null) return noticed(closed, refusal);
    return {
      ...noticed(closed, 'waiting for the daemon ...', 'dim'),
      job: async (client) => ({ type: 'done', text: change.said((await change.perform(client)).body) }),
    };
  },
  refuse: (state) => {
    const closed = { ...state, confirm: null, prompt: null, notice: null };
    return state.prompt?.question.isFilter === true ? filtered(closed, '') : closed;
  },
  erase: (state) => edited(state, (text) => [...text].slice(0, -1).join('')),
  'erase-all': (state) => edited(state, () => ''),
  enter: answered,
};

function neighbour<T>(list: readonly T[], one: T, step: number): T {
  const at = list.indexOf(one);
  return list[(Math.max(0, at) + step + list.length) % list.length] as T;
}

/** Moves the picked row of a list, in other views the task type. Stops at both ends. */
function moved(state: State, step: number): State {
  const rows = keysOf(state);
  if (rows === undefined) {
    const at = TASK_TYPES.indexOf(state.taskType) + step;
    return { ...state, taskType: TASK_TYPES[at] ?? state.taskType };
  }
  const last = rows.length - 1;
  return { ...state, sought: null, picked: Math.max(0, Math.min(last, state.picked + step)) };
}

function otherTask(state: State, step: number): State {
  return { ...state, taskType: neighbour(TASK_TYPES, state.taskType, step), picked: 0, notice: null };
}

/** Asks for missing input, or for confirmation; or explains why there is nothing to do. */
function proposed(state: State, proposal: Proposal): State {
  if (typeof proposal === 'string') return noticed(state, proposal);
  return 'answer' in proposal
    ? { ...state, prompt: { question: proposal, text: '', problem: null }, notice: null }
    : { ...state, confirm: proposal, notice: null };
}

function onTask(state: State, propose: (task: TaskBody, overview: OverviewBody) => Proposal): State {
  const overview = state.data.overview.body;
  const task = overview?.tasks.find(({ task_type }) => task_type === state.taskType);
  return overview === null || task === undefined ? state : proposed(state, propose(task, overview));
}

function onPicked<V extends ListView>(
  state: State,
  view: V,
  propose: (row: NonNullable<ReturnType<typeof pickedOf<V>>>) => Proposal,
) {
  const row = pickedOf(state, view);
  return proposed(state, row === undefined ? 'nothing is picked: the list is empty' : propose(row));
}

function typed(state: State, text: string): State {
  const printable = withoutSteering(text, '');
  return edited(state, (before, { length }) => [...before, ...printable].slice(0, length).join(''));
}

function edited(state: State, edit: (text: string, question: Question) => string): State {
  const { prompt } = state;
  if (prompt === null) return state;
  const text = edit(prompt.text, prompt.question);
  const typed = { ...state, prompt: { ...prompt, text, problem: null } };
  return prompt.question.isFilter === true ? filtered(typed, text) : typed;
}

function answered(state: State): State {
  const { prompt } = state;
  if (prompt === null) return state;
  const text = prompt.text.trim();
  const closed = { ...state, prompt: null };
  if (text === '' || prompt.question.isFilter === true) return closed;
  const answer = prompt.question.answer(text);
  if ('problem' in answer) return { ...state, prompt: { ...prompt, problem: answer.problem } };
  return 'card' in answer ? entered(closed, { view: 'card', card: answer.card }) : proposed(closed, answer);
}

function noticed(state: State, text: string, tone: 'red' | 'dim' = 'red'): State {
  return { ...state, notice: { text, tone } };
}
