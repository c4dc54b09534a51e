// The state of the dashboard and its events. model.ts makes the next state, the views show it.
import type { ApiClient } from '../api/client/client.ts';
import type { PlannedChange } from '../changes/planned-change.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { AlertBody } from '../resources/alerts.ts';
import type { AuditBody } from '../resources/audit.ts';
import type { CleanupProgressBody } from '../resources/cleanup.ts';
import type { ExplanationBody } from '../resources/explanation.ts';
import type { ConfigBody } from '../resources/schedule.ts';
import type { ItemsBody, PageBody } from '../resources/schema.ts';
import type { FailuresBody, HistoryBody, OverviewBody } from '../resources/stats.ts';
import type { StopBody } from '../resources/stops.ts';
import type { TriggerBody } from '../resources/triggers.ts';

/** In the order of Tab. The view of a card is not included: it needs a card. */
export const VIEWS = [
  'overview',
  'task',
  'alerts',
  'triggers',
  'instances',
  'configs',
  'stops',
  'health',
  'card',
] as const;
export type View = (typeof VIEWS)[number];
export const TAB_ORDER = VIEWS.filter((view) => view !== 'card');

export interface ListedStops extends PageBody<StopBody> {
  /** The state of all of them; null: the latest stops in any state. */
  readonly state: 'held' | 'observed' | null;
}

/** The daemon's answers by source. */
export interface Bodies {
  readonly overview: OverviewBody;
  readonly history: HistoryBody;
  readonly failures: ItemsBody<FailuresBody>;
  readonly firing: PageBody<AlertBody>;
  /** The latest alerts, firing or resolved. */
  readonly alerts: PageBody<AlertBody>;
  readonly triggers: PageBody<TriggerBody>;
  readonly configs: ItemsBody<ConfigBody> & { readonly total?: number };
  readonly stops: ListedStops;
  readonly cleanup: CleanupProgressBody;
  readonly card: ExplanationBody;
  /** The latest stops in any state, and the latest changes. */
  readonly latest: PageBody<StopBody>;
  readonly audit: PageBody<AuditBody>;
}
export type Source = keyof Bodies;

/** The last answer of a source. Kept while later requests fail. */
interface LastAnswer<Body> {
  readonly body: Body | null;
  /** Milliseconds of the monotonic clock; null before the first answer. */
  readonly atMs: number | null;
  /** Why the last request failed; null: it was answered. */
  readonly problem: string | null;
}
export type Data = { readonly [S in Source]: LastAnswer<Bodies[S]> };

/** The change to confirm, the card to show, or why the typed text is refused. */
export type TypedAnswer = PlannedChange | { readonly card: string } | { readonly problem: string };

export interface Question {
  readonly text: string;
  /** Number of characters that may be typed. */
  readonly length: number;
  readonly answer: (typed: string) => TypedAnswer;
  /** The typed text is the filter of the list, at once. */
  readonly isFilter?: true;
}

/** The effect of a key: a change to confirm, a question before it, or a sentence why there is no change. */
export type Proposal = PlannedChange | Question | string;

interface Prompt {
  readonly question: Question;
  /** The typed text so far. */
  readonly text: string;
  readonly problem: string | null;
}

/** A request that the session sends, once for each new one. @returns its result. */
export type Job = (client: ApiClient) => Promise<Event>;

export interface State {
  /** The base URL, after the name of its context if there is one. */
  readonly daemon: string;
  readonly columns: number;
  readonly rows: number;
  readonly view: View;
  /** The task type that keys act on in the overview, in its own view and in the view of a card. */
  readonly taskType: TaskType;
  /** The words that rows of the list must have; empty: all rows are shown. */
  readonly filter: string;
  /** The column by which the list is sorted; null: in the order of the daemon. */
  readonly sort: { readonly column: number; readonly isReversed: boolean } | null;
  /** Index of the picked row, in views with a list, among those that are shown. */
  readonly picked: number;
  /** The card that its view shows, as it was typed. */
  readonly card: string | null;
  /** The row to pick as soon as its list has arrived; null: none. */
  readonly sought: string | null;
  /** The picked event in the strip of the last hour; null while keys do not act on the strip. */
  readonly mark: string | null;
  /** The places that Enter has left, the latest last. */
  readonly trail: readonly Pick<State, (typeof KEPT)[number]>[];
  readonly help: boolean;
  readonly prompt: Prompt | null;
  readonly confirm: PlannedChange | null;
  readonly job: Job | null;
  readonly notice: { readonly text: string; readonly tone: 'green' | 'red' | 'dim' } | null;
  readonly readOnly: boolean;
  readonly data: Data;
  /** Milliseconds of the monotonic clock, at the last tick. */
  readonly nowMs: number;
  /** Milliseconds of the monotonic clock; null while the daemon answers. */
  readonly nextTryAtMs: number | null;
  /** Grows with every request to repaint the whole screen. */
  readonly redraws: number;
  /** Grows with every request to give the terminal to the shell until `fg`. */
  readonly yields: number;
  readonly exit: 'quit' | 'interrupted' | null;
}

/** The target of a key, or a sentence why there is nothing to open. */
export type Destination = Partial<Pick<State, 'view' | 'taskType' | 'card' | 'sought'>> | string;

export type Event =
  | { readonly type: 'key'; readonly key: string }
  /** Text from the clipboard, which is never read as keys. */
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
  | { readonly type: 'planned'; readonly change: PlannedChange }
  | { readonly type: 'done'; readonly text: string }
  | { readonly type: 'refused'; readonly problem: string; readonly readOnly: boolean };

export type Received = { [S in Source]: { readonly source: S; readonly body: Bodies[S] } }[Source];

/** The parts of a place that the way back restores. */
export const KEPT = ['view', 'picked', 'taskType', 'card', 'mark', 'filter', 'sort'] as const;

/** Older data is stale, even while a request is in flight. */
const STALE_AFTER_MS = 4_000;

const UNREAD: LastAnswer<never> = { body: null, atMs: null, problem: null };

const SOURCES: Readonly<Record<View, readonly Source[]>> = {
  overview: ['overview', 'history', 'firing', 'cleanup'],
  task: ['overview', 'history', 'failures'],
  alerts: ['overview', 'firing', 'alerts'],
  triggers: ['overview', 'triggers'],
  instances: ['overview'],
  health: ['overview'],
  stops: ['overview', 'stops'],
  configs: ['overview', 'configs'],
  card: ['overview', 'card'],
};
const WITH_STRIP: readonly Source[] = [...SOURCES.overview, 'alerts', 'latest', 'audit'];
const OF_WALL: readonly Source[] = [...WITH_STRIP, 'failures'];
const ALL_SOURCES = [...Object.values(SOURCES).flat(), ...OF_WALL];

export function initialState(
  given: Pick<State, 'daemon' | 'columns' | 'rows' | 'nowMs'> &
    Partial<Pick<State, 'view' | 'card' | 'taskType'>>,
): State {
  return {
    view: 'overview',
    taskType: 'realname',
    filter: '',
    sort: null,
    picked: 0,
    card: null,
    sought: null,
    mark: null,
    trail: [],
    help: false,
    prompt: null,
    confirm: null,
    job: null,
    notice: null,
    readOnly: false,
    data: Object.fromEntries(ALL_SOURCES.map((source) => [source, UNREAD])) as Record<Source, typeof UNREAD>,
    nextTryAtMs: null,
    redraws: 0,
    yields: 0,
    exit: null,
    ...given,
  };
}

/** Milliseconds since the overview was received; null before the first. */
export function ageMsOf({ data, nowMs }: State): number | null {
  return data.overview.atMs === null ? null : Math.max(0, nowMs - data.overview.atMs);
}

/** Whether the screen shows an outdated state of the fleet. */
export function isStale(state: State): boolean {
  const ageMs = ageMsOf(state);
  return ageMs !== null && (state.nextTryAtMs !== null || ageMs >= STALE_AFTER_MS);
}

/** When the daemon made the overview. All times on the screen are relative to this. */
export function dataTimeMs({ data }: State): number {
  return Date.parse(data.overview.body?.generated_at ?? '1970-01-01T00:00:00Z');
}

/**
 * The alerts as their view lists them: firing, then resolved, each with the newest first. The two readings are of different
 * moments: an alert that resolves between them is listed as firing until the next reading of both.
 */
export function listedAlerts({ data }: Pick<State, 'data'>): readonly AlertBody[] {
  const firing = data.firing.body?.items ?? [];
  const ids = new Set(firing.map(({ id }) => id));
  const latest = data.alerts.body?.items ?? [];
  return [...firing, ...latest.filter(({ id }) => !ids.has(id))];
}

/** The cards whose last poll of the task type failed, with the latest first. */
export function failingCards({ data, taskType }: Pick<State, 'data' | 'taskType'>): FailuresBody['cards'] {
  return data.failures.body?.items.find(({ task_type }) => task_type === taskType)?.cards ?? [];
}

/** Whether the screen is large, for a wall: its overview also shows failures, stops and changes. */
export function isWall({ columns, rows }: Pick<State, 'columns' | 'rows'>): boolean {
  return columns >= 160 && rows >= 50;
}

/** Whether the overview has the strip of the last hour. */
export function hasStrip({ view, columns, rows }: Pick<State, 'view' | 'columns' | 'rows'>): boolean {
  return view === 'overview' && columns >= 120 && rows >= 40;
}

/** The sources that the open view needs. The overview is always one of them. */
export function sourcesOf(state: Pick<State, 'view' | 'columns' | 'rows'>): readonly Source[] {
  if (!hasStrip(state)) return SOURCES[state.view];
  return isWall(state) ? OF_WALL : WITH_STRIP;
}
