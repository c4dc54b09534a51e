// What Enter opens: behind a task type its view, behind a failing card or a stop the card, behind an alert or a reason of the health
// the view that explains it. Esc leads back the same way. Pure.
import type { HealthReasonBody } from '../api/client/client-bodies.ts';
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
    const view = reason && VIEW_OF_REASON[reason.code];
    return view === undefined ? taskPlace(reason) : { view };
  },
};

/** Reasons of a task type that have no line here are explained by its view. */
const VIEW_OF_REASON: Partial<Record<HealthReasonBody['code'], View>> = {
  ...{ stop_surge: 'stops', stops_held: 'stops', stop_unconfirmed: 'stops', over_running: 'stops' },
  ...{ usage_jump: 'stops', stop_modes_differ: 'stops', stopped_within: 'stops' },
  ...{ no_worker: 'instances', no_scheduler: 'instances', instance_clocks_differ: 'instances' },
  ...{
    reload_failed: 'instances',
    logs_not_written: 'instances',
    part_failing: 'instances',
    time_zones_differ: 'instances',
  },
  ...{ own_cpu: 'instances', redis_slow: 'instances', database_slow: 'instances' },
  ...{ instance_cut_off: 'instances', instance_gone: 'instances', certificate_expires: 'instances' },
  ...{ nothing_polled: 'configs', pace_short: 'configs', cards_unselected: 'configs' },
};

export const OPENING: readonly View[] = Object.keys(PLACES) as View[];

/** @returns undefined in a view where nothing can be opened. */
export function placeBehind(state: State): Destination | undefined {
  return pickedHappening(state)?.one.place ?? PLACES[state.view]?.(state);
}

/** Whether there is something behind the picked row. */
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
