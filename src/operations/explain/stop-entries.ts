// The stops of a card as history entries. Used by explainer.ts. Pure. Only the logs say when a card was found running
// again (复机); here it is only known that it runs now.
import type { CardStop } from '../../store/ports/records/stop-records.ts';
import type { CardExplanation } from './explain.ts';

/** @param stops latest first, at most one for each month. @param stopped whether the card is stopped now */
export function stopEntries(stops: readonly CardStop[], stopped: boolean): CardExplanation['stops'] {
  return stops.map((stop, index) => {
    const used = `${stop.usedMb} of ${stop.allowanceMb} MB used in ${stop.month}`;
    if (stop.completedAtMs !== null) {
      const resumed = index === 0 && !stopped;
      return {
        at: new Date(stop.completedAtMs),
        action: resumed ? 'stopped, runs again' : 'stopped',
        detail: resumed ? `${used}; not stopped a second time in the month` : used,
      };
    }
    const calls = stop.unconfirmed === 0 ? '' : `; acknowledged ${stop.unconfirmed} times without effect`;
    const error = stop.lastError === null ? '' : `; last error: ${stop.lastError}`;
    return {
      at: new Date(stop.requestedAtMs),
      action: stop.unconfirmed === 0 ? 'stop requested' : 'stop unconfirmed',
      detail: `${used}${calls}${error}`,
    };
  });
}
