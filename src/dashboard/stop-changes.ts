// What an operator can change in the view of stops: their mode, and what becomes of held ones. Each change has a reason,
// which is asked for before its plan is shown. Used by model.ts.
import type { ApiClient } from '../api/client/client.ts';
import type { HeldSelection, OverviewBody, StopBody } from '../api/client/client-bodies.ts';
import { roundedMb } from '../domain/numbers.ts';
import { isReason, REASON_CHARS, REASON_RULE } from '../domain/stops/stop.ts';
import { shellQuoted } from '../platform/shell-word.ts';
import { exactText } from '../terminal/style.ts';
import type { PlannedChange } from './changes.ts';
import type { ListedStops, Question } from './state.ts';

/** @param overview null: nothing is known yet. */
export function modeQuestion(overview: OverviewBody | null): Question | string {
  const from = overview?.stops.mode ?? null;
  if (overview === null || from === null) return 'the mode of stops is not known now';
  const to = from === 'observe' ? 'enforce' : 'observe';
  // It holds all stops.
  const hasJumped = overview.health_reasons.some(({ code }) => code === 'usage_jump');
  const effects =
    to === 'observe'
      ? ['No card is stopped from then on, on any instance. It is recorded which would be.']
      : [
          'Cards over their package are stopped, within the budget.',
          ...(hasJumped ? ['This accepts the jump of the readings as right.'] : []),
        ];
  return reasonQuestion(`set mode ${to}`, {
    title: `Mode of stops: ${from} -> ${to}`,
    effects,
    command: `mode ${to}`,
    perform: async (client, reason) => {
      const { body } = await client.setStopMode(to, reason);
      return `mode of stops: ${from} -> ${body.mode}`;
    },
  });
}

const CHECKED = 'checked again by its next package poll. The budget does not hold it.';

export function releaseQuestion(stop: StopBody): Question | string {
  const release: Decide = async (client, held, reason) =>
    (await client.releaseStops(held, reason)).body.released;
  return heldQuestion(stop, 'release', 'released', `It is ${CHECKED}`, release);
}

export function dismissQuestion(stop: StopBody): Question | string {
  const effect = `It is not stopped in ${stop.month}, whatever it uses.`;
  const dismiss: Decide = async (client, held, reason) =>
    (await client.dismissStops(held, reason)).body.dismissed;
  return heldQuestion(stop, 'dismiss', 'dismissed', effect, dismiss);
}

/** @returns the number of stops that it was done to. */
type Decide = (client: ApiClient, held: HeldSelection, reason: string) => Promise<number>;

function heldQuestion(stop: StopBody, verb: string, done: string, effect: string, decide: Decide) {
  const { card_id, state } = stop;
  if (state !== 'held') return `the stop of card ${card_id} is ${state}, not held`;
  return reasonQuestion(`${verb} card ${card_id}`, {
    title: `Stop of card ${card_id}: held -> ${done}`,
    effects: [usageOf(stop), effect],
    command: `${verb} ${card_id}`,
    perform: async (client, reason) => {
      const count = await decide(client, { card_ids: [card_id] }, reason);
      return `the stop of card ${card_id} ${count === 0 ? 'was not held any more' : `is ${done}`}`;
    },
  });
}

/** @param stops those listed; null: nothing is known yet. */
export function releaseAllQuestion(stops: ListedStops | null): Question | string {
  const held = stops?.state === 'held' ? stops.total : 0;
  if (held === 0) return 'no stop is held';
  return reasonQuestion(`release all ${held} held`, {
    title: `All held stops, ${held.toLocaleString('en-US')}: held -> released`,
    effects: [`Each card is ${CHECKED}`, 'Stops that are held until then are released too.'],
    command: 'release --all',
    perform: async (client, reason) => {
      const { body } = await client.releaseStops({ all: true }, reason);
      return `held stops released: ${body.released.toLocaleString('en-US')}`;
    },
  });
}

interface StopChange extends Omit<PlannedChange, 'perform'> {
  readonly perform: (client: ApiClient, reason: string) => Promise<string>;
}

/** @param change without its reason; `command` without `cardpoll stops`. */
function reasonQuestion(what: string, { title, effects, command, perform }: StopChange): Question {
  const changeFor = (reason: string): PlannedChange => ({
    title,
    effects: [...effects, `Reason: ${reason}`],
    command: `cardpoll stops ${command} --reason ${shellQuoted(reason)}`,
    perform: (client) => perform(client, reason),
  });
  return {
    text: `Reason to ${what}:`,
    length: REASON_CHARS.max,
    answer: (typed) => (isReason(typed) ? changeFor(typed) : { problem: `a reason ${REASON_RULE}` }),
  };
}

function usageOf({ card_id, month, used_mb, allowance_mb }: StopBody): string {
  const allowance = allowance_mb === null ? 'without a limit' : `of ${exactText(roundedMb(allowance_mb))} MB`;
  return `Card ${card_id} has used ${exactText(roundedMb(used_mb))} MB ${allowance} in ${month}.`;
}
