// The prompts at the bottom of the screen: their questions, and the actions that answers become. Used by model.ts and
// the frame.
import type { AlertBody, ConfigBody, TaskBody } from '../api/client/client-bodies.ts';
import { duration, integer, type Parsed } from '../config/kinds.ts';
import { SILENCE_SECONDS_BOUNDS } from '../domain/alerts/alert-silence.ts';
import {
  DEFAULT_PAUSE_SECONDS,
  MAX_CONCURRENCY_BOUNDS,
  PAUSE_SECONDS_BOUNDS,
} from '../domain/limits/operator-limits.ts';
import { INTERVAL_SECONDS_BOUNDS } from '../domain/schedule/polling-config.ts';
import { isReason, REASON_RULE } from '../domain/stops/stop.ts';
import type { Action } from './actions.ts';
import { seconds } from './format.ts';
import { listedAlerts, type Prompt, type State } from './state.ts';
import { reasonQuestion, type StopChange } from './stop-changes.ts';

/** What keys and prompts act on; null where it is not known, or the view does not show it. */
interface Subject {
  readonly task: TaskBody | null;
  readonly config: ConfigBody | null;
  readonly alert: AlertBody | null;
}

type Answer = { readonly action: Action } | { readonly card: string } | { readonly problem: string };

const LIMIT = integer(MAX_CONCURRENCY_BOUNDS);
const PAUSE = duration('s', PAUSE_SECONDS_BOUNDS);
const INTERVAL = duration('s', INTERVAL_SECONDS_BOUNDS);
const SILENCE = duration('s', SILENCE_SECONDS_BOUNDS);
const LOST: Answer = { problem: 'nothing is known of it any more' };

export function subjectOf(state: State): Subject {
  const { data, taskType, picked, view } = state;
  return {
    task: data.overview.body?.tasks.find(({ task_type }) => task_type === taskType) ?? null,
    config: view === 'configs' ? (data.configs.body?.items[picked] ?? null) : null,
    alert: view === 'alerts' ? (listedAlerts(state)[picked] ?? null) : null,
  };
}

/** @returns the change that a key asks for, or a sentence that says why there is none. */
export function stopChangeOf(kind: StopChange['kind'], { data, picked }: State): StopChange | string {
  const overview = data.overview.body;
  if (kind === 'mode') {
    const from = overview?.stops.mode ?? null;
    if (from === null) return 'the mode of stops is not known now';
    const to = from === 'observe' ? 'enforce' : 'observe';
    const hasJumped = overview?.health_reasons.some(({ code }) => code === 'usage_jump') ?? false;
    return { kind, from, to, acceptsJump: to === 'enforce' && hasJumped };
  }
  if (kind === 'release-all') {
    const held = data.stops.body?.state === 'held' ? data.stops.body.total : 0;
    return held === 0 ? 'no stop is held' : { kind, held };
  }
  const stop = data.stops.body?.items[picked];
  if (stop === undefined) return 'nothing is picked: the list is empty';
  return stop.state === 'held'
    ? { kind, stop }
    : `the stop of card ${stop.card_id} is ${stop.state}, not held`;
}

export function questionOf(prompt: Prompt, { task, config, alert }: Subject): string {
  switch (prompt.for) {
    case 'card':
      return 'Card id or ICCID:';
    case 'limit':
      return `New limit of ${task?.task_type ?? '?'} (now ${task?.concurrency.max ?? '?'}):`;
    case 'pause':
      return `Pause ${task?.task_type ?? '?'} for how long (90s, ${seconds(DEFAULT_PAUSE_SECONDS)}, 2h):`;
    case 'silence':
      return `Silence "${alert?.rule_name ?? '?'}" for how long (90s, 1h, 2d):`;
    case 'interval':
      return `New interval of config ${config?.id ?? '?'} (now ${seconds(config?.interval_seconds ?? null)}; 900, 15m):`;
    case 'reason':
      return reasonQuestion(prompt.change);
  }
}

/** The action that the typed text asks for, or why it is refused. */
export function actionOf(prompt: Prompt, { task, config, alert }: Subject): Answer {
  const typed = prompt.text.trim();
  switch (prompt.for) {
    case 'card':
      return /^\d{1,22}$/.test(typed)
        ? { card: typed }
        : { problem: 'a card id or an ICCID has digits only' };
    case 'limit':
      if (task === null) return LOST;
      return parsed(LIMIT.parse(typed), (to) =>
        to === task.concurrency.max
          ? { problem: `it is ${to} already` }
          : { action: { kind: 'limit', task, to } },
      );
    case 'pause':
      if (task === null) return LOST;
      return parsed(PAUSE.parse(typed), (length) => ({ action: { kind: 'pause', task, seconds: length } }));
    case 'silence':
      if (alert === null) return LOST;
      return parsed(SILENCE.parse(typed), (length) => ({
        action: { kind: 'silence', alert, seconds: length },
      }));
    case 'interval':
      if (config === null) return LOST;
      return parsed(INTERVAL.parse(typed), (to) =>
        to === config.interval_seconds
          ? { problem: `it is ${seconds(to)} already` }
          : { action: { kind: 'interval', config, to } },
      );
    case 'reason':
      return isReason(typed)
        ? { action: { kind: 'stops', change: prompt.change, reason: typed } }
        : { problem: `a reason ${REASON_RULE}` };
  }
}

function parsed<T>(value: Parsed<T>, then: (value: T) => Answer): Answer {
  return value.ok ? then(value.value) : { problem: value.problem };
}
