// Navigation of the dashboard between views and rows, forward and back, and what stays picked meanwhile. Pure; model.ts uses it.
import { keysOf } from './lists.ts';
import { KEPT, type State, type View } from './state.ts';

/** Number of steps back that are remembered. */
const LONGEST_TRAIL = 8;

/** The initial state of an opened view. */
const FRESH = { picked: 0, sought: null, mark: null, filter: '', sort: null, notice: null } as const;

export function shown(state: State, view: View): State {
  if (view === state.view) return state;
  return { ...state, ...FRESH, view, trail: [] };
}

/** Opens a place from which Esc leads back. */
export function entered(state: State, { card = state.card, ...place }: Partial<State>): State {
  const here = Object.fromEntries(
    KEPT.map((field) => [field, state[field]]),
  ) as unknown as State['trail'][number];
  const trail = [...state.trail, here].slice(-LONGEST_TRAIL);
  const at = { ...withCard(state, card), ...FRESH, trail, ...place };
  return samePicked(at, at);
}

/** Data of another card is not shown. */
function withCard<Part extends Pick<State, 'card' | 'data'>>(state: Part, card: string | null): Part {
  if (card === state.card) return state;
  return { ...state, card, data: { ...state.data, card: { body: null, atMs: null, problem: null } } };
}

/** Esc: first removes the filter, then leads back to where Enter was pressed, otherwise to the overview. */
export function back(state: State): State {
  const { filter, trail } = state;
  if (filter !== '') return filtered(state, '');
  const before = trail.at(-1);
  if (before === undefined) return shown(state, 'overview');
  return { ...withCard(state, before.card), ...before, trail: trail.slice(0, -1), notice: null };
}

/** Rows come and go. The mark stays on its row while that is listed, or moves to the sought one. */
export function samePicked(before: State, after: State): State {
  const rows = keysOf(after);
  if (rows === undefined) return after;
  const sought = after.sought === null ? -1 : rows.indexOf(after.sought);
  if (sought !== -1) return { ...after, picked: sought, sought: null };
  const at = rows.indexOf(keysOf(before)?.[before.picked] ?? '');
  return { ...after, picked: at === -1 ? Math.min(before.picked, Math.max(0, rows.length - 1)) : at };
}

/** The mark stays on its row if that is still shown. */
export function filtered(state: State, filter: string): State {
  return samePicked(state, { ...state, filter: filter.trim(), notice: null });
}
