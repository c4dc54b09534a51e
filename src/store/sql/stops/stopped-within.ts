// Cards that cardpoll stopped for their usage and that are now within their package. The walk over all cards finds them
// (stops.ts), and changed cards are judged at once. Used by stops.ts and card-import.ts, too.
import { isConfirmedWithin, stoppedWithin } from '../../../domain/orders/stopped-within.ts';
import { OVER_RUNNING_COUNTED, OVER_RUNNING_SHOWN } from '../../../domain/stops/stop.ts';
import type { StoppedWithinRecords } from '../../ports/records/stopped-within-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlClient, SqlRunner, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkingIndexes } from '../client/transaction-bounds.ts';
import { type Facts, factsOf } from '../orders/card-orders.ts';
import file from './stopped-within.sql';

const sql = statements(file);

/** Cards judged by one statement. */
const STEP = 1_000;

export function sqlStoppedWithin(client: SqlClient): StoppedWithinRecords {
  const page = (...params: readonly SqlValue[]) =>
    walkingIndexes(client, (tx) => sql.on(tx).column<number>('page', ...params));

  return {
    counted: () => sql.on(client).first('counted', OVER_RUNNING_COUNTED, OVER_RUNNING_SHOWN),

    judge: (cardIds, month) => walkingIndexes(client, (tx) => judgeStoppedWithin(tx, cardIds, month)),

    async cards(month, carrierId, most) {
      const found: number[] = [];
      let after: number | undefined = 0;
      while (after !== undefined && found.length < most) {
        const ids: number[] = await page(after, carrierId, STEP, null);
        const { cards } = await factsOf(client, ids, month);
        found.push(...withinOf(cards)[0]);
        after = ids.at(-1);
      }
      return found.slice(0, most);
    },

    async confirmed(month, afterCardId, limit, pauseMs) {
      const ids = await page(afterCardId, null, limit, pauseMs);
      const { cards, control } = await factsOf(client, ids, month);
      const found = cards.filter((card) => isConfirmedWithin(card, control.jump));
      return { lastCardId: ids.at(-1) ?? null, cardIds: found.map(({ cardId }) => cardId) };
    },

    noteTried: (cardIds) => sql.on(client).run('noteTried', cardIds),
  };
}

/** Adds the matching cards to the list, and removes the others from it. */
export async function judgeStoppedWithin(
  tx: SqlRunner,
  cardIds: readonly number[],
  month: string,
): Promise<void> {
  const db = sql.on(tx);
  const candidates = await db.column<number>('candidates', cardIds, monthStart(month));
  const { cards } = await factsOf(tx, candidates, month);
  const [within, months] = withinOf(cards);
  await db.run('note', cardIds, within, months);
}

/** @returns the matching cards and the months of their stops, as parameters. */
export function withinOf(cards: Facts['cards']): [number[], string[]] {
  const found = cards.flatMap((card) => {
    const stop = stoppedWithin(card);
    return stop === null ? [] : [[card.cardId, monthStart(stop.month)] as const];
  });
  return [found.map(([cardId]) => cardId), found.map(([, month]) => month)];
}
