// The target of Enter: from a task type its view, from a failing card or a stop the card, from an alert or a health reason the
// view that explains it. Esc leads back the same way. Pure.
import { reasonRow } from '../domain/reasons.ts';
import { pickedHappening } from './hour.ts';
import { pickedOf } from './lists.ts';
import type { Destination, State, View } from './state.ts';

const PLACES: Partial<Record<View, (state: State) => Destination>> = {
  overview: () => ({ view: 'task' }),
  task: (state) => {
    const card = pickedOf(state, 'task');
    return card === undefined ? `no card of ${state.taskType} fails` : cardPlace(card);
  },
  stops: (state) => cardPlace(pickedOf(state, 'stops')),
  triggers: (state) => taskPlace(pickedOf(state, 'triggers')),
  alerts: (state) => {
    const alert = pickedOf(state, 'alerts');
    return alert?.rule_type === 'stop_surge' ? { view: 'stops' } : taskPlace(alert);
  },
  health: (state) => {
    const reason = pickedOf(state, 'health');
    const view = reason && reasonRow(reason.code).view;
    return view === undefined ? taskPlace(reason) : { view };
  },
};

export const OPENING: readonly View[] = Object.keys(PLACES) as View[];

/** @returns undefined in a view without targets. */
export function placeBehind(state: State): Destination | undefined {
  return pickedHappening(state)?.one.place ?? PLACES[state.view]?.(state);
}

/** Whether the picked row has a target. */
export function canOpen(state: State): boolean {
  return typeof (placeBehind(state) ?? '') !== 'string';
}

function cardPlace(of: { readonly card_id: number } | undefined): Destination {
  return of === undefined ? 'nothing is picked: the list is empty' : { view: 'card', card: `${of.card_id}` };
}

function taskPlace(of: { readonly task_type: State['taskType'] | null } | undefined): Destination {
  if (of === undefined) return 'nothing is picked: the list is empty';
  if (of.task_type === null) return 'it is about the whole fleet: no view says more';
  return { view: 'task', taskType: of.task_type };
}
