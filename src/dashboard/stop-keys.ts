// What the keys in the view of stops ask for. Used by model.ts.
import type { State } from './state.ts';
import type { StopChange } from './stop-changes.ts';

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
