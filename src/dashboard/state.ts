// What the dashboard knows at one moment, and what can happen to it. model.ts makes the next state of it, the views
// show it. Data only.
import type {
  AlertBody,
  CleanupProgressBody,
  ConfigBody,
  ExplanationBody,
  FailuresBody,
  HistoryBody,
  ItemsBody,
  OverviewBody,
  PageBody,
  TriggerBody,
} from '../api/client/client-bodies.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { Action, ChangePlan } from './actions.ts';

/** In the order of Tab; the last one is reached by naming a card only. */
export const VIEWS = ['overview', 'task', 'alerts', 'triggers', 'instances', 'configs', 'card'] as const;
export type View = (typeof VIEWS)[number];

/** What is read from the daemon, by name. */
export interface Bodies {
  readonly overview: OverviewBody;
  readonly history: HistoryBody;
  readonly failures: ItemsBody<FailuresBody>;
  /** Those that fire now. */
  readonly firing: PageBody<AlertBody>;
  /** The latest, over or not. */
  readonly alerts: PageBody<AlertBody>;
  readonly triggers: PageBody<TriggerBody>;
  readonly configs: ItemsBody<ConfigBody>;
  readonly cleanup: CleanupProgressBody;
  readonly card: ExplanationBody;
}
export type Source = keyof Bodies;

/** The last answer of a source is kept when later ones fail. */
interface LastAnswer<Body> {
  readonly body: Body | null;
  /** Monotonic; null: never received. */
  readonly atMs: number | null;
  /** Why the last attempt gave nothing; null when it gave an answer. */
  readonly problem: string | null;
}
export type Data = { readonly [S in Source]: LastAnswer<Bodies[S]> };

/** A line to be typed. */
export interface Prompt {
  readonly for: 'card' | 'limit' | 'pause' | 'interval' | 'silence';
  readonly text: string;
  readonly problem: string | null;
}

/** What the session is to do besides showing: carried out once for each new object. */
export type Job =
  | { readonly kind: 'perform'; readonly action: Action }
  | { readonly kind: 'preview-cleanup' };

export interface State {
  /** Whose fleet this is: the base URL, and before it the name of its context where there is one. */
  readonly daemon: string;
  readonly columns: number;
  readonly rows: number;
  readonly view: View;
  /** The one the keys act on, in the overview, in its own view and for a card. */
  readonly taskType: TaskType;
  /** Index of the picked row in the views that are lists. */
  readonly picked: number;
  /** The card that is looked at, as it was typed. */
  readonly card: string | null;
  readonly help: boolean;
  readonly prompt: Prompt | null;
  readonly confirm: { readonly action: Action; readonly plan: ChangePlan } | null;
  readonly job: Job | null;
  /** What came of the last thing done. */
  readonly notice: { readonly text: string; readonly tone: 'good' | 'bad' | 'dim' } | null;
  /** The token in use may only read. */
  readonly readOnly: boolean;
  readonly data: Data;
  /** Monotonic, of the last tick. */
  readonly nowMs: number;
  /** Monotonic; null while answers come. */
  readonly nextTryAtMs: number | null;
  /** Grows when the screen is to be painted whole: something else wrote on it. */
  readonly redraws: number;
  readonly exit: 'quit' | 'interrupted' | null;
}

export type Event =
  | { readonly type: 'key'; readonly key: string }
  /** Text from the clipboard: never taken for keys. */
  | { readonly type: 'pasted'; readonly text: string }
  | { readonly type: 'resized'; readonly columns: number; readonly rows: number }
  | { readonly type: 'tick'; readonly nowMs: number }
  | { readonly type: 'received'; readonly reading: Received; readonly atMs: number }
  | {
      readonly type: 'failed';
      readonly source: Source;
      readonly problem: string;
      readonly nextTryAtMs: number;
    }
  | { readonly type: 'read-only' }
  | { readonly type: 'planned'; readonly action: Action; readonly plan: ChangePlan }
  | { readonly type: 'done'; readonly text: string }
  | { readonly type: 'refused'; readonly problem: string; readonly readOnly: boolean };

/** An answer with the source it came from. */
export type Received = { [S in Source]: { readonly source: S; readonly body: Bodies[S] } }[Source];

/** Data older than this is called stale, also while an answer may still come. */
const STALE_AFTER_MS = 4_000;

const UNREAD: LastAnswer<never> = { body: null, atMs: null, problem: null };

export function initialState(
  given: Pick<State, 'daemon' | 'columns' | 'rows' | 'nowMs'> &
    Partial<Pick<State, 'view' | 'card' | 'taskType'>>,
): State {
  return {
    view: 'overview',
    taskType: 'realname',
    picked: 0,
    card: null,
    help: false,
    prompt: null,
    confirm: null,
    job: null,
    notice: null,
    readOnly: false,
    data: {
      overview: UNREAD,
      history: UNREAD,
      failures: UNREAD,
      firing: UNREAD,
      alerts: UNREAD,
      triggers: UNREAD,
      configs: UNREAD,
      cleanup: UNREAD,
      card: UNREAD,
    },
    nextTryAtMs: null,
    redraws: 0,
    exit: null,
    ...given,
  };
}

/** Milliseconds since the overview was received; null before the first. */
export function ageMsOf({ data, nowMs }: State): number | null {
  return data.overview.atMs === null ? null : Math.max(0, nowMs - data.overview.atMs);
}

/** Whether what is shown is no longer what is. */
export function isStale(state: State): boolean {
  const ageMs = ageMsOf(state);
  return ageMs !== null && (state.nextTryAtMs !== null || ageMs >= STALE_AFTER_MS);
}

/** The moment the daemon made its numbers: what all other times are told against. */
export function dataTimeMs({ data }: State): number {
  return Date.parse(data.overview.body?.generated_at ?? '1970-01-01T00:00:00Z');
}

/** What the view of alerts lists: those that fire, then those that are over, each the newest first. */
export function listedAlerts({ data }: Pick<State, 'data'>): readonly AlertBody[] {
  const over = (data.alerts.body?.items ?? []).filter(({ resolved_at }) => resolved_at !== null);
  return [...(data.firing.body?.items ?? []), ...over];
}

/** The cards whose last poll of the task type failed, as its view lists them: the latest first. */
export function failingCards({ data, taskType }: Pick<State, 'data' | 'taskType'>): FailuresBody['cards'] {
  return data.failures.body?.items.find(({ task_type }) => task_type === taskType)?.cards ?? [];
}

/** What the open view needs, the overview always. */
export function sourcesOf({ view }: Pick<State, 'view'>): readonly Source[] {
  switch (view) {
    case 'overview':
      return ['overview', 'history', 'firing', 'cleanup'];
    case 'task':
      return ['overview', 'history', 'failures'];
    case 'alerts':
      return ['overview', 'firing', 'alerts'];
    case 'triggers':
      return ['overview', 'triggers'];
    case 'instances':
      return ['overview'];
    case 'configs':
      return ['overview', 'configs'];
    case 'card':
      return ['overview', 'card'];
  }
}
