// Changes of stops: their mode, and the decisions about held ones. Each has a reason, which is recorded.
import type { StopMode } from '../domain/stops/stop.ts';
import { cardCount, countWords, grouped } from '../domain/words.ts';
import { shellQuoted } from '../platform/shell-word.ts';
import type { DismissBody, HeldSelection, ReleaseBody, StopModeBody } from '../resources/stops.ts';
import type { PlannedChange } from './planned-change.ts';

/** Stops that are called in mode enforce; null: not counted. */
interface PlannedCalls {
  /** Observed ones, within the budget. */
  readonly observed: number;
  /** Released ones, which the budget does not hold. */
  readonly released: number;
}

/** @param jump facts about a jump of the readings that no one has accepted, because it holds all stops; null: none. */
export function stopModeChange(
  [from, to]: readonly [StopMode, StopMode],
  jump: string | null,
  calls: PlannedCalls | null,
  reason: string,
): PlannedChange<StopModeBody> {
  return {
    title: `Mode of stops: ${from} -> ${to}`,
    effects:
      to === 'observe'
        ? ['No card is stopped from then on, on any instance. It is recorded which would be.']
        : [
            'Cards over their package are stopped, within the budget.',
            ...callsWords(calls),
            ...(jump === null ? [] : [`This accepts a jump of the readings as right: ${jump}.`]),
          ],
    command: `cardpoll stops mode ${to} --reason ${shellQuoted(reason)}`,
    perform: (client) => client.setStopMode(to, reason),
    said: ({ mode }) => `mode of stops: ${from} -> ${mode}`,
  };
}

function callsWords(calls: PlannedCalls | null): string[] {
  if (calls === null) return [];
  const { observed, released } = calls;
  const held =
    released === 0
      ? []
      : [`${countWords(released, 'stop')} that operators released: the budget does not hold them.`];
  return observed === 0
    ? held
    : [`${countWords(observed, 'observed stop')} may be called, within the budget.`, ...held];
}

export type Decision = 'release' | 'dismiss';

/** The cards; or all, with the current number of such stops: null if they are not counted. */
export type HeldStops = readonly number[] | { readonly all: number | null };

export function heldStopsChange(
  decision: Decision,
  held: HeldStops,
  reason: string,
): PlannedChange<ReleaseBody | DismissBody> {
  const isRelease = decision === 'release';
  const past = isRelease ? 'released' : 'dismissed';
  const kind = isRelease ? 'held stops' : 'stops that were not called';
  const what =
    'all' in held
      ? `All ${kind}${held.all === null ? '' : `, ${grouped(held.all)}`}`
      : held.length === 1
        ? `Stop of card ${held[0]}`
        : `Stops of ${cardCount(held.length)}`;
  const words = 'all' in held ? '--all' : held.join(' ');
  const selection: HeldSelection = 'all' in held ? { all: true } : { card_ids: held };
  return {
    title: isRelease ? `${what}: held -> ${past}` : `${what}: dismissed`,
    effects: [
      isRelease
        ? 'Each is judged again and called at once if the card is still over. The budget limits none of these calls.'
        : 'A dismissed card is not stopped in that month, whatever it uses. `cardpoll cards stop` still stops it.',
      ...('all' in held ? [`Stops that begin until then are ${past} too.`] : []),
    ],
    command: `cardpoll stops ${decision} ${words} --reason ${shellQuoted(reason)}`,
    perform: (client) =>
      isRelease ? client.releaseStops(selection, reason) : client.dismissStops(selection, reason),
    said: (body) => {
      const decided = decidedIn(body);
      if ('all' in held || held.length !== 1)
        return `${isRelease ? 'held stops released' : 'stops dismissed'}: ${grouped(decided)}`;
      const none = isRelease ? 'was not held any more' : 'was not dismissed: it was called, or is gone';
      return `the stop of card ${held[0]} ${decided === 0 ? none : `is ${past}`}`;
    },
  };
}

/** The number of changed stops. */
export function decidedIn(body: ReleaseBody | DismissBody): number {
  return 'released' in body ? body.released : body.dismissed;
}
