// The stops of a card as history entries: when it was stopped and resumed, and why it was not stopped although it was over its
// package. Used by explainer.ts. Pure. Only the logs say when a card was found running again (复机); here it is only known
// that it runs now.
import type { HoldReason } from '../../domain/stops/stop.ts';
import type { CardStop } from '../../store/ports/records/stop-records.ts';
import type { CardExplanation } from './explain.ts';

type Entry = CardExplanation['stops'][number];

const HELD_BECAUSE: Record<HoldReason, string> = {
  usage_jump: 'the readings of the whole fleet jumped',
  budget_hour: 'the stops allowed in an hour were used up',
  budget_day: 'the stops allowed in a day were used up',
};

/** @param stops latest first, at most one for each month. @param card.stopped whether it is stopped now */
export function stopEntries(
  stops: readonly CardStop[],
  card: { readonly cardId: number; readonly stopped: boolean },
): CardExplanation['stops'] {
  return stops.map((stop, index) => ({
    at: new Date(stop.resumedAtMs ?? stop.completedAtMs ?? stop.requestedAtMs),
    ...wordsOf(stop, card.cardId, index === 0 && !card.stopped),
  }));
}

/** @param runs whether the stop is the card's last one, and the card runs. */
function wordsOf(stop: CardStop, cardId: number, runs: boolean): Omit<Entry, 'at'> {
  const used = usedWords(stop);
  const order = stop.orderedBy === null ? '' : `by order of ${stop.orderedBy}: ${stop.reason}`;
  switch (stop.state) {
    case 'done':
      return runs
        ? entry('stopped, runs again', used, order, 'not stopped a second time in the month')
        : entry('stopped', used, order);
    case 'resumed':
      return entry(
        'stopped and resumed',
        used,
        order,
        stop.stopAgain
          ? 'stopped again in the month if a later reading is over the allowance'
          : 'not stopped a second time in the month',
      );
    case 'held': {
      const why = stop.heldBy === null ? '' : `, because ${HELD_BECAUSE[stop.heldBy]}`;
      return entry(
        'stop held',
        used,
        `not stopped${why}`,
        `cardpoll stops release ${cardId} --reason TEXT stops it, cardpoll stops dismiss ${cardId} --reason TEXT gives it up`,
      );
    }
    case 'observed':
      return entry(
        'stop observed',
        used,
        'not stopped, because stops were only observed (cardpoll stops mode)',
      );
    case 'dismissed':
      return entry('stop dismissed', used, `not stopped in the month, ${order}`);
    case 'requested':
      return requestedWords(stop, used, order);
  }
}

function requestedWords(stop: CardStop, used: string, order: string): Omit<Entry, 'at'> {
  const { unconfirmed, lastError, attempts } = stop;
  return entry(
    unconfirmed === 0 ? 'stop requested' : 'stop unconfirmed',
    used,
    order,
    order !== '' && attempts === 0 ? 'the next package poll makes it, unless stops are only observed' : '',
    unconfirmed === 0 ? '' : `acknowledged ${unconfirmed} times without effect`,
    lastError === null ? '' : `last error: ${lastError}`,
  );
}

function entry(action: string, ...parts: readonly string[]): Omit<Entry, 'at'> {
  return { action, detail: parts.filter((part) => part !== '').join('; ') };
}

function usedWords({ usedMb, allowanceMb, month }: CardStop): string {
  return `${usedMb}${allowanceMb === null ? '' : ` of ${allowanceMb}`} MB used in ${month}`;
}
