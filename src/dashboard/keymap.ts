// The table of keys. model.ts executes its commands, and the help line and the help page are generated from it.
import { LIST_VIEWS } from './lists.ts';
import { canOpen, OPENING } from './opening.ts';
import { hasStrip, isStale, type State, type View } from './state.ts';

type Mode = 'help' | 'prompt' | 'confirm' | 'strip';

export interface Binding<Name extends string = Command> {
  /** Names as in terminal.ts: a character, or `up`, `return`, `ctrl-c` ... */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly label: string;
  /** The command in model.ts. */
  readonly command: Name;
  /** The mode in which the key works; absent: in the view itself and its strip. */
  readonly mode?: Mode | 'anywhere';
  /** The views in which it works; absent: all. */
  readonly views?: readonly View[];
  /** It changes the fleet. Grey for a read-only token, and while the data is stale. */
  readonly changes?: true;
  /** Whether the help line shows it, if there is room. The help page shows all keys. */
  readonly inLine?: (state: State) => boolean;
}

/** In the view of a task type the left arrow leads to another task type. */
const BACK_BY_LEFT: readonly View[] = [...LIST_VIEWS.filter((view) => view !== 'task'), 'card'];
const TASKS: readonly View[] = ['overview', 'task'];

const ARROWS = ['left', 'h', 'right', 'l', 'up', 'k', 'down', 'j'] as const;

const BINDINGS = [
  { keys: ARROWS, shown: '←→↑↓', label: 'mark', command: 'move-mark', mode: 'strip', inLine: always },
  { keys: ['return'], shown: 'Enter', label: 'open', command: 'open', mode: 'strip', inLine: always },
  {
    keys: ['escape', 'e'],
    shown: 'Esc',
    label: 'back',
    command: 'leave-hour',
    mode: 'strip',
    inLine: always,
  },
  { keys: ['q'], shown: 'q', label: 'quit', command: 'quit', inLine: always },
  { keys: ['?'], shown: '?', label: 'help', command: 'help', inLine: always },
  { keys: ['tab'], shown: 'Tab', label: 'view', command: 'next-view', inLine: always },
  { keys: ['shift-tab'], shown: 'Shift-Tab', label: 'previous view', command: 'previous-view' },
  { keys: ['/'], shown: '/', label: 'card', command: 'search', views: ['overview', 'card'], inLine: always },
  { keys: ['/'], shown: '/', label: 'filter', command: 'filter', views: LIST_VIEWS, inLine: always },
  { keys: ['c'], shown: 'c', label: 'card', command: 'search' },
  { keys: ['up', 'k'], shown: '↑ k', label: 'row or task type above', command: 'up' },
  { keys: ['down', 'j'], shown: '↓ j', label: 'row or task type below', command: 'down' },
  { keys: ['return'], shown: 'Enter', label: 'open', command: 'open', views: OPENING, inLine: offersOpen },
  { keys: ['right', 'l'], shown: '→ l', label: 'open', command: 'open', views: ['overview'] },
  { keys: ['left', 'h'], shown: '← h', label: 'task type before', command: 'left', views: ['task'] },
  {
    keys: ['right', 'l'],
    shown: '→ l',
    label: 'next task type',
    command: 'right',
    views: ['task'],
    inLine: always,
  },
  { keys: ['escape'], shown: 'Esc', label: 'back', command: 'back' },
  { keys: ['left', 'h'], shown: '← h', label: 'back', command: 'back', views: BACK_BY_LEFT },
  { keys: ['e'], shown: 'e', label: 'last hour', command: 'hour', views: ['overview'], inLine: hasStrip },
  // In the order of Tab. The tabs show their names.
  { keys: ['1', '2', '3', '4', '5', '6', '7'], shown: '1 to 8', label: 'view by number', command: 'show' },
  { keys: ['8'], shown: '8', label: 'health', command: 'show', inLine: hasMoreReasons },
  { keys: ['ctrl-l'], shown: 'Ctrl-L', label: 'paint the screen anew', command: 'redraw' },
  change('L', 'limit', TASKS),
  change('P', 'pause', TASKS),
  { ...change('G', 'resume', TASKS, 'go on'), inLine: isPaused },
  change('R', 'reset', TASKS, 'reset'),
  change('C', 'cleanup', ['overview']),
  change('E', 'switch', ['configs'], 'on/off'),
  change('I', 'interval', ['configs']),
  change('A', 'acknowledge', ['alerts']),
  change('S', 'silence', ['alerts'], 'silence rule'),
  change('X', 'cancel', ['triggers']),
  change('M', 'stop-mode', ['stops'], 'mode'),
  { ...change('R', 'release', ['stops']), inLine: hasHeld },
  { ...change('D', 'dismiss', ['stops']), inLine: hasHeld },
  { ...change('A', 'release-all', ['stops'], 'release all'), inLine: hasHeld },
  { ...change('T', 'poll', ['task', 'card'], 'poll now'), inLine: canOpen },
  // After the keys that need the room in the line more.
  { keys: ['s'], shown: 's', label: 'sort', command: 'sort', views: LIST_VIEWS, inLine: always },
  { keys: ['r'], shown: 'r', label: 'reverse the order', command: 'reverse', views: LIST_VIEWS },
  {
    keys: ['?', 'escape', 'q', 'return'],
    shown: '? Esc q',
    label: 'close help',
    command: 'help',
    mode: 'help',
    inLine: always,
  },
  { keys: ['return'], shown: 'Enter', label: 'go on', command: 'enter', mode: 'prompt', inLine: always },
  { keys: ['escape'], shown: 'Esc', label: 'leave it', command: 'refuse', mode: 'prompt', inLine: always },
  { keys: ['backspace'], shown: 'Backspace', label: 'erase', command: 'erase', mode: 'prompt' },
  { keys: ['ctrl-u'], shown: 'Ctrl-U', label: 'erase all', command: 'erase-all', mode: 'prompt' },
  { keys: ['y'], shown: 'y', label: 'do it', command: 'accept', mode: 'confirm', inLine: always },
  {
    keys: ['n', 'escape', 'q'],
    shown: 'n Esc',
    label: 'leave it',
    command: 'refuse',
    mode: 'confirm',
    inLine: always,
  },
  { keys: ['ctrl-c'], shown: 'Ctrl-C', label: 'end at once', command: 'interrupt', mode: 'anywhere' },
  { keys: ['ctrl-z'], shown: 'Ctrl-Z', label: 'suspend until fg', command: 'yield', mode: 'anywhere' },
] as const satisfies readonly Binding<string>[];

export type Command = (typeof BINDINGS)[number]['command'];
export const KEYMAP: readonly Binding[] = BINDINGS;

function always(): boolean {
  return true;
}

function isPaused({ data, taskType }: State): boolean {
  return data.overview.body?.pauses.some(({ task_type }) => task_type === taskType) ?? false;
}

/** The overview shows only some of them. */
function hasMoreReasons({ data, view }: State): boolean {
  return view === 'overview' && (data.overview.body?.health_reasons.length ?? 0) > 1;
}

function hasHeld({ data }: State): boolean {
  return data.stops.body?.state === 'held';
}

/** In the view of stops the decision keys need the room. */
function offersOpen(state: State): boolean {
  return state.view !== 'stops' && canOpen(state);
}

function change<Name extends string>(
  key: string,
  command: Name,
  views: readonly View[],
  label: string = command,
): Binding<Name> {
  return { keys: [key], shown: key, label, command, views, changes: true, inLine: always };
}

/** @returns null when keys act on the view itself. */
export function modeOf(state: State): Mode | null {
  if (state.confirm !== null) return 'confirm';
  if (state.prompt !== null) return 'prompt';
  if (state.help) return 'help';
  return state.mark !== null && hasStrip(state) ? 'strip' : null;
}

/** @returns null for a key without effect now. */
export function bindingOf(state: State, key: string): Binding | null {
  return bindingsOf(state).find(({ keys }) => keys.includes(key)) ?? null;
}

/**
 * The keys with an effect now, in the order of the table. In the strip the keys of the view also work, except those that the
 * strip defines.
 */
export function bindingsOf(state: State): readonly Binding[] {
  const mode = modeOf(state);
  const isHere = ({ views }: Binding) => views?.includes(state.view) ?? true;
  const own = KEYMAP.filter((one) => one.mode === 'anywhere' || ((one.mode ?? null) === mode && isHere(one)));
  if (mode !== 'strip') return own;
  const taken = new Set(own.flatMap(({ keys }) => keys));
  const others = KEYMAP.filter(
    (one) => one.mode === undefined && isHere(one) && !one.keys.some((key) => taken.has(key)),
  );
  return [...own, ...others];
}

/** Why nothing can be changed now; null: changes are possible. */
export function refusalOf(state: State): string | null {
  if (state.readOnly) return 'this token may only read: changing needs an operator token';
  if (state.data.overview.body === null) return 'nothing is known of the fleet yet';
  if (isStale(state)) return 'the daemon does not answer: nothing can be changed now';
  return null;
}
