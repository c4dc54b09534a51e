// Makes the next state of the dashboard from a state and an event. Pure. The session reads from the state what is to be
// done (`job`, `exit`) and which data it needs (`sourcesOf`).
import type { OverviewBody, TaskBody } from '../api/client/client-bodies.ts';
import { REASON_CHARS } from '../domain/stops/stop.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import { type Action, planOf } from './actions.ts';
import { type Binding, bindingOf, type Command, modeOf, refusalOf } from './keymap.ts';
import { actionOf, stopChangeOf, subjectOf } from './prompts.ts';
import {
  dataTimeMs,
  type Event,
  failingCards,
  listedAlerts,
  type Prompt,
  type State,
  VIEWS,
  type View,
} from './state.ts';
import type { StopChange } from './stop-changes.ts';

const TAB_ORDER = VIEWS.filter((view) => view !== 'card');
const PROMPT_LENGTH = 40;

export function reduce(state: State, event: Event): State {
  switch (event.type) {
    case 'key':
      return onKey(state, event.key);
    case 'pasted':
      return state.prompt === null ? state : typed(state, state.prompt, event.text);
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
      return { ...state, job: null, notice: { text: event.text, tone: 'good' } };
    case 'refused':
      return {
        ...state,
        job: null,
        readOnly: state.readOnly || event.readOnly,
        notice: { text: event.problem, tone: 'bad' },
      };
  }
}

function received(state: State, { reading, atMs }: Extract<Event, { type: 'received' }>): State {
  const data = { ...state.data, [reading.source]: { body: reading.body, atMs, problem: null } };
  const nowMs = Math.max(state.nowMs, atMs);
  const nextTryAtMs = reading.source === 'overview' ? null : state.nextTryAtMs;
  return samePicked(state, { ...state, data, nowMs, nextTryAtMs });
}

/** Failing cards and stops come and go. The mark stays on its row as long as that is listed. */
function samePicked(before: State, after: State): State {
  const rows = comingAndGoing(after);
  if (rows === null) return after;
  const picked = comingAndGoing(before)?.[before.picked];
  const at = rows.indexOf(picked ?? '');
  return { ...after, picked: at === -1 ? Math.min(before.picked, Math.max(0, rows.length - 1)) : at };
}

/** What tells the rows of such a list apart; null where the view has none. */
function comingAndGoing(state: State): readonly string[] | null {
  if (state.view === 'task') return failingCards(state).map(({ card_id }) => `${card_id}`);
  if (state.view !== 'stops') return null;
  return (state.data.stops.body?.items ?? []).map(({ card_id, month }) => `${card_id} ${month}`);
}

function failed(state: State, { source, problem, nextTryAtMs }: Extract<Event, { type: 'failed' }>): State {
  const data = { ...state.data, [source]: { ...state.data[source], problem } };
  return { ...state, data, nextTryAtMs: source === 'overview' ? nextTryAtMs : state.nextTryAtMs };
}

/** Shows a plan that the daemon had to be asked for, unless the operator has begun to type something else. */
function answeredPlan(state: State, { action }: Extract<Event, { type: 'planned' }>): State {
  const idle = { ...state, job: null, notice: null };
  return modeOf(state) === null ? planned(idle, action) : idle;
}

function onKey(state: State, key: string): State {
  const binding = bindingOf(state, key);
  if (binding !== null) return obey(state, binding);
  const { prompt } = state;
  return prompt !== null && modeOf(state) === 'prompt' && [...key].length === 1
    ? typed(state, prompt, key)
    : state;
}

function obey(state: State, { command, changes }: Binding): State {
  const refusal = changes === true ? refusalOf(state) : null;
  if (refusal !== null) return { ...state, notice: { text: refusal, tone: 'bad' } };
  return COMMANDS[command](state);
}

const COMMANDS: Record<Command, (state: State) => State> = {
  quit: (state) => ({ ...state, exit: 'quit' }),
  interrupt: (state) => ({ ...state, exit: 'interrupted' }),
  help: (state) => ({ ...state, help: !state.help }),
  redraw: (state) => ({ ...state, redraws: state.redraws + 1 }),
  'next-view': (state) => shown(state, neighbour(TAB_ORDER, state.view, 1)),
  'previous-view': (state) => shown(state, neighbour(TAB_ORDER, state.view, -1)),
  'show-overview': (state) => shown(state, 'overview'),
  'show-task': (state) => shown(state, 'task'),
  'show-alerts': (state) => shown(state, 'alerts'),
  'show-triggers': (state) => shown(state, 'triggers'),
  'show-instances': (state) => shown(state, 'instances'),
  'show-configs': (state) => shown(state, 'configs'),
  'show-stops': (state) => shown(state, 'stops'),
  'show-health': (state) => shown(state, 'health'),
  up: (state) => moved(state, -1),
  down: (state) => moved(state, 1),
  left: (state) => otherTask(state, -1),
  right: (state) => otherTask(state, 1),
  open: (state) => {
    if (state.view !== 'task') return shown(state, 'task');
    const card = failingCards(state)[state.picked];
    return card === undefined ? noneFails(state) : opened(state, String(card.card_id));
  },
  back: (state) => shown(state, 'overview'),
  search: (state) => asked(state, 'card'),
  limit: (state) => asked(state, 'limit'),
  pause: (state) => asked(state, 'pause'),
  interval: (state) => (subjectOf(state).config === null ? nothingPicked(state) : asked(state, 'interval')),
  reset: (state) => onTask(state, (task) => ({ kind: 'reset', task })),
  resume: (state) => onTask(state, (task, overview) => resumption(task, overview, dataTimeMs(state))),
  switch: (state) => {
    const config = subjectOf(state).config;
    return config === null ? nothingPicked(state) : planned(state, { kind: 'switch', config });
  },
  cancel: (state) => {
    const trigger = state.data.triggers.body?.items[state.picked] ?? null;
    if (trigger === null) return nothingPicked(state);
    if (trigger.status === 'completed' || trigger.status === 'cancelled')
      return noticed(state, `trigger ${trigger.trigger_id} has already ended`);
    return planned(state, { kind: 'cancel', trigger });
  },
  poll: (state) => {
    const isListed = state.view === 'task';
    const card = isListed ? failingCards(state)[state.picked] : state.data.card.body?.card;
    if (card === undefined)
      return isListed ? noneFails(state) : noticed(state, 'nothing is known of the card yet');
    return planned(state, { kind: 'poll', taskType: state.taskType, cardId: card.card_id });
  },
  acknowledge: (state) => {
    const alert = subjectOf(state).alert;
    if (alert === null) return nothingPicked(state);
    const { acknowledged_by: by, resolved_at: over } = alert;
    if (by !== null) return noticed(state, `alert ${alert.id} is acknowledged by ${by} already`);
    if (over !== null) return noticed(state, `alert ${alert.id} is over`);
    return planned(state, { kind: 'acknowledge', alert });
  },
  silence: (state) => (subjectOf(state).alert === null ? nothingPicked(state) : asked(state, 'silence')),
  'stop-mode': (state) => onStops(state, 'mode'),
  release: (state) => onStops(state, 'release'),
  dismiss: (state) => onStops(state, 'dismiss'),
  'release-all': (state) => onStops(state, 'release-all'),
  cleanup: (state) =>
    state.job !== null
      ? state
      : { ...noticed(state, 'counting what has expired ...', 'dim'), job: { kind: 'preview-cleanup' } },
  accept: (state) => {
    const { confirm } = state;
    if (confirm === null || state.job !== null) return state;
    const refusal = refusalOf(state);
    if (refusal !== null) return noticed({ ...state, confirm: null }, refusal);
    const waiting = noticed({ ...state, confirm: null }, 'waiting for the daemon ...', 'dim');
    return { ...waiting, job: { kind: 'perform', action: confirm.action } };
  },
  refuse: (state) => ({ ...state, confirm: null, prompt: null, notice: null }),
  erase: (state) => edited(state, (text) => [...text].slice(0, -1).join('')),
  'erase-all': (state) => edited(state, () => ''),
  enter: (state) => entered(state),
};

function shown(state: State, view: View): State {
  return view === state.view ? state : { ...state, view, picked: 0, notice: null };
}

function neighbour<T>(list: readonly T[], one: T, step: number): T {
  const at = list.indexOf(one);
  return list[(Math.max(0, at) + step + list.length) % list.length] as T;
}

/** Moves the picked row of a list, elsewhere the task type. It stops at both ends. */
function moved(state: State, step: number): State {
  const length = rowsOf(state);
  if (length === null) {
    const at = TASK_TYPES.indexOf(state.taskType) + step;
    return { ...state, taskType: TASK_TYPES[at] ?? state.taskType };
  }
  return { ...state, picked: Math.max(0, Math.min(length - 1, state.picked + step)) };
}

function otherTask(state: State, step: number): State {
  return { ...state, taskType: neighbour(TASK_TYPES, state.taskType, step), picked: 0, notice: null };
}

/** The number of rows of the open list; null where the view has no list. */
function rowsOf({ view, data, taskType }: State): number | null {
  switch (view) {
    case 'task':
      return failingCards({ data, taskType }).length;
    case 'alerts':
      return listedAlerts({ data }).length;
    case 'triggers':
    case 'configs':
    case 'stops':
      return data[view].body?.items.length ?? 0;
    case 'instances':
      return data.overview.body?.workers.length ?? 0;
    case 'health':
      return data.overview.body?.health_reasons.length ?? 0;
    default:
      return null;
  }
}

function asked(state: State, what: Exclude<Prompt['for'], 'reason'>): State {
  return { ...state, prompt: { for: what, text: '', problem: null }, notice: null };
}

function typed(state: State, prompt: Prompt, text: string): State {
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, '');
  const next = [...prompt.text, ...printable].slice(0, lengthOf(prompt)).join('');
  return { ...state, prompt: { ...prompt, text: next, problem: null } };
}

function lengthOf(prompt: Prompt): number {
  return prompt.for === 'reason' ? REASON_CHARS.max : PROMPT_LENGTH;
}

function edited(state: State, edit: (text: string) => string): State {
  const { prompt } = state;
  return prompt === null
    ? state
    : { ...state, prompt: { ...prompt, text: edit(prompt.text), problem: null } };
}

function entered(state: State): State {
  const { prompt } = state;
  if (prompt === null) return state;
  if (prompt.text.trim() === '') return { ...state, prompt: null };
  const answer = actionOf(prompt, subjectOf(state));
  if ('problem' in answer) return { ...state, prompt: { ...prompt, problem: answer.problem } };
  if ('card' in answer) return opened({ ...state, prompt: null }, answer.card);
  return planned({ ...state, prompt: null }, answer.action);
}

function opened(state: State, card: string): State {
  const unread = { body: null, atMs: null, problem: null };
  const data = card === state.card ? state.data : { ...state.data, card: unread };
  return { ...shown(state, 'card'), card, data };
}

function planned(state: State, action: Action): State {
  return { ...state, confirm: { action, plan: planOf(action) }, notice: null };
}

function noticed(state: State, text: string, tone: 'bad' | 'dim' = 'bad'): State {
  return { ...state, notice: { text, tone } };
}

function nothingPicked(state: State): State {
  return noticed(state, 'nothing is picked: the list is empty');
}

function noneFails(state: State): State {
  return noticed(state, `no card of ${state.taskType} fails`);
}

function onTask(state: State, make: (task: TaskBody, overview: OverviewBody) => Action | string): State {
  const overview = state.data.overview.body;
  const task = subjectOf(state).task;
  if (task === null || overview === null) return state;
  const made = make(task, overview);
  return typeof made === 'string' ? noticed(state, made) : planned(state, made);
}

function onStops(state: State, kind: StopChange['kind']): State {
  const change = stopChangeOf(kind, state);
  if (typeof change === 'string') return noticed(state, change);
  return { ...state, prompt: { for: 'reason', change, text: '', problem: null }, notice: null };
}

function resumption(task: TaskBody, { pauses }: OverviewBody, nowMs: number): Action | string {
  const own = pauses.filter(({ task_type }) => task_type === task.task_type);
  if (own.length === 0) return `${task.task_type} is not paused`;
  return { kind: 'resume', task, pauses: own, nowMs };
}
