// What an operator can change in the view of stops: their mode, and what becomes of held ones. Each change has a reason,
// which is asked for before its plan is shown. Used by actions.ts, and by prompts.ts for the question.
import type { ApiClient } from '../api/client/client.ts';
import type { StopBody } from '../api/client/client-bodies.ts';
import { shellQuoted } from '../cli/output/shell-word.ts';
import { cardCount } from '../cli/output/style.ts';
import type { StopMode } from '../domain/stops/stop.ts';
import { megabytes } from './format.ts';

/** What an operator is shown before a change is made. */
export interface ChangePlan {
  readonly title: string;
  /** Which cards it affects, and the consequences. */
  readonly effects: readonly string[];
  /** The command that does the same. */
  readonly command: string;
}

export type StopChange =
  | {
      readonly kind: 'mode';
      readonly from: StopMode;
      readonly to: StopMode;
      /** The readings of the fleet have jumped, which holds all stops; enforce accepts them. */
      readonly acceptsJump: boolean;
    }
  | { readonly kind: 'release' | 'dismiss'; readonly stop: StopBody }
  | { readonly kind: 'release-all'; readonly held: number };

export function reasonQuestion(change: StopChange): string {
  switch (change.kind) {
    case 'mode':
      return `Reason to set mode ${change.to}:`;
    case 'release':
    case 'dismiss':
      return `Reason to ${change.kind} card ${change.stop.card_id}:`;
    case 'release-all':
      return `Reason to release all ${change.held} held:`;
  }
}

export function stopPlan(change: StopChange, reason: string): ChangePlan {
  const { title, effects, command } = partsOf(change);
  return {
    title,
    effects: [...effects, `Reason: ${reason}`],
    command: `cardpoll stops ${command} --reason ${shellQuoted(reason)}`,
  };
}

const JUDGED = 'judged anew by its next package poll. The budget does not hold it.';

function partsOf(change: StopChange): ChangePlan {
  switch (change.kind) {
    case 'mode': {
      const { from, to, acceptsJump } = change;
      const effect =
        to === 'observe'
          ? 'No card is stopped from then on, on any instance. It is recorded which would be.'
          : 'Cards over their package are stopped, within the budget.';
      const accepts = acceptsJump ? ['This accepts the jump of the readings as right.'] : [];
      return {
        title: `Mode of stops: ${from} -> ${to}`,
        effects: [effect, ...accepts],
        command: `mode ${to}`,
      };
    }
    case 'release':
    case 'dismiss': {
      const { kind, stop } = change;
      const isReleased = kind === 'release';
      return {
        title: `Stop of card ${stop.card_id}: held -> ${isReleased ? 'released' : 'dismissed'}`,
        effects: [
          usageOf(stop),
          isReleased ? `It is ${JUDGED}` : `It is not stopped in ${stop.month}, whatever it uses.`,
        ],
        command: `${kind} ${stop.card_id}`,
      };
    }
    case 'release-all':
      return {
        title: `Held stops of ${cardCount(change.held)}: held -> released`,
        effects: [`Each card is ${JUDGED}`, 'Stops that are held until then are released too.'],
        command: 'release --all',
      };
  }
}

function usageOf({ card_id, month, used_mb, allowance_mb }: StopBody): string {
  const allowance = allowance_mb === null ? 'without a limit' : `of ${megabytes(allowance_mb)} MB`;
  return `Card ${card_id} has used ${megabytes(used_mb)} MB ${allowance} in ${month}.`;
}

/** @returns the result, as one sentence without a full stop. Throws CardpollError. */
export async function performStopChange(
  client: ApiClient,
  change: StopChange,
  reason: string,
): Promise<string> {
  switch (change.kind) {
    case 'mode': {
      const { body } = await client.setStopMode(change.to, reason);
      return `mode of stops: ${change.from} -> ${body.mode}`;
    }
    case 'release': {
      const { card_id } = change.stop;
      const { body } = await client.releaseStops({ card_ids: [card_id] }, reason);
      return decided(card_id, body.released, 'released');
    }
    case 'dismiss': {
      const { card_id } = change.stop;
      const { body } = await client.dismissStops({ card_ids: [card_id] }, reason);
      return decided(card_id, body.dismissed, 'dismissed');
    }
    case 'release-all': {
      const { body } = await client.releaseStops({ all: true }, reason);
      return `the held stops of ${cardCount(body.released)} are released`;
    }
  }
}

function decided(cardId: number, count: number, word: string): string {
  return count === 0
    ? `the stop of card ${cardId} was not held any more`
    : `the stop of card ${cardId} is ${word}`;
}
