// Manual triggers (see TriggerRecords in the port, and migrations/0007_triggers.sql for how counting once works).
import type { ManualTrigger } from '../../../domain/manual-trigger.ts';
import type { OpenTotals, TriggerRecords } from '../../ports/records/trigger-records.ts';
import { countWithin } from '../client/bounded-count.ts';
import { arraysOf, columnOf, countOf, firstOf, withTotal } from '../client/rows.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './triggers.sql';

const sql = statements(file);

/** Cards looked at in one call: a few milliseconds. */
const PIECE_CARDS = 10_000;

type LockedRow = Pick<
  ManualTrigger,
  'kind' | 'status' | 'total' | 'totalEstimated' | 'succeeded' | 'failed'
> & {
  readonly carrierId: number | null;
  readonly cardStatus: number | null;
  readonly lastCardId: number;
  readonly handedOut: number;
};

interface Chunk {
  readonly cardIds: readonly number[];
  readonly lastCardId: number;
  readonly more: boolean;
}

interface PieceRow {
  readonly cardIds: readonly number[];
  readonly lookedAt: number;
  readonly lastLookedAt: number | null;
}

export function sqlTriggers(client: SqlClient): TriggerRecords {
  return {
    async create({ triggerId, taskType, cards }, handOut) {
      const isSelection = cards.kind === 'by_condition';
      const first = isSelection ? [] : cards.cardIds.slice(0, handOut);
      const more = isSelection || first.length < cards.cardIds.length;
      const [trigger] = await client.query<ManualTrigger>(sql('create'), [
        triggerId,
        cards.kind,
        taskType,
        isSelection ? cards.selection.carrierId : null,
        isSelection ? cards.selection.status : null,
        isSelection ? cards.total : cards.cardIds.length,
        isSelection && cards.totalEstimated,
        isSelection || !more ? null : cards.cardIds,
        first,
        more,
      ]);
      return { trigger: trigger as ManualTrigger, cardIds: first };
    },

    find: (triggerId) => firstOf(client.query<ManualTrigger>(sql('find'), [triggerId])),

    list: ({ offset, limit }) =>
      withTotal(client.query<ManualTrigger>(sql('page'), [limit, offset]), client.query(sql('countAll'))),
    openFor: ({ cardId, carrierId, status }, limit) =>
      client.query(sql('openFor'), [cardId, carrierId, status, limit]),

    countSelected: ({ carrierId, status }) =>
      countWithin(client, sql('selectedCards').text, [carrierId, status]),
    countOpen: () => countOf(client.query(sql('countOpen'))),
    countOpenConditions: (taskType) => countOf(client.query(sql('countOpenConditions'), [taskType])),

    async openTotals(taskType) {
      const [row] = await client.query<OpenTotals>(sql('openTotals'), [taskType]);
      return row as OpenTotals;
    },

    knownCards: (cardIds) => columnOf<number>(client.query(sql('knownCards'), [cardIds])),
    cancel: (triggerId) => firstOf(client.query<ManualTrigger>(sql('cancel'), [triggerId])),
    cancelAll: (taskType) => client.query(sql('cancelAll'), [taskType]),
    feeding: (limit) => client.query(sql('feeding'), [limit]),
    handOut: (triggerId, limit) => client.transaction((tx) => handOutNext(tx, triggerId, limit)),

    async count(results) {
      await client.query(sql('count'), arraysOf(results, 'triggerId', 'cardId', 'succeeded'));
    },

    owed(taskType, olderThanMs, after, limit) {
      const position = [after?.triggerId ?? '', after?.cardId ?? 0];
      return client.query(sql('owed'), [taskType, olderThanMs, ...position, limit]);
    },

    handOutAgain: (cards) => client.query(sql('handOutAgain'), arraysOf(cards, 'triggerId', 'cardId')),

    async defer(cards) {
      await client.query(sql('defer'), arraysOf(cards, 'triggerId', 'cardId', 'waitMs'));
    },

    early: (triggerIds, most) => client.query(sql('early'), [triggerIds, most]),
    earlyOf: (taskType, cardIds) => client.query(sql('earlyOf'), [taskType, cardIds]),

    async takeBack(triggerId, runningCardIds) {
      await client.transaction(async (tx) => {
        // Locked first, in the order of the code that counts results.
        await tx.query(sql('lock'), [triggerId]);
        await tx.query(sql('takeBackCards'), [triggerId, runningCardIds]);
        await tx.query(sql('endFeeding'), [triggerId]);
      });
    },
  };
}

/**
 * Hands out the next cards: writes them down as owed and moves the trigger's cursor behind them. The lock on the trigger's
 * row keeps callers apart. @returns no cards, and no more, for a trigger that is finished or handed out in full.
 */
async function handOutNext(
  tx: SqlRunner,
  triggerId: string,
  limit: number,
): Promise<{ cardIds: readonly number[]; more: boolean }> {
  const [trigger] = await tx.query<LockedRow>(sql('lockFeeding'), [triggerId]);
  if (trigger === undefined) return { cardIds: [], more: false };
  const take = trigger.kind === 'by_condition' ? takeSelected : takeListed;
  const chunk = await take(tx, triggerId, trigger, limit);
  await save(tx, triggerId, trigger, chunk);
  return { cardIds: chunk.cardIds, more: chunk.more };
}

async function takeListed(
  tx: SqlRunner,
  triggerId: string,
  trigger: LockedRow,
  limit: number,
): Promise<Chunk> {
  const { handedOut: before, lastCardId, total } = trigger;
  const params = [triggerId, before, limit];
  const [{ cardIds }] = (await tx.query(sql('listed'), params)) as [Pick<Chunk, 'cardIds'>];
  return { cardIds, lastCardId, more: before + cardIds.length < total };
}

async function takeSelected(
  tx: SqlRunner,
  triggerId: string,
  trigger: LockedRow,
  limit: number,
): Promise<Chunk> {
  const { lastCardId: after, carrierId, cardStatus } = trigger;
  const params = [triggerId, after, PIECE_CARDS, carrierId, cardStatus, limit];
  const [{ cardIds, lookedAt, lastLookedAt }] = (await tx.query(sql('selected'), params)) as [PieceRow];
  // A full hand may have left matching cards of the piece behind.
  if (cardIds.length === limit) return { cardIds, lastCardId: cardIds.at(-1) ?? after, more: true };
  return { cardIds, lastCardId: lastLookedAt ?? after, more: lookedAt === PIECE_CARDS };
}

async function save(tx: SqlRunner, triggerId: string, trigger: LockedRow, chunk: Chunk): Promise<void> {
  const handedOut = trigger.handedOut + chunk.cardIds.length;
  const estimated = trigger.totalEstimated && chunk.more;
  const total = trigger.totalEstimated && !chunk.more ? handedOut : Math.max(trigger.total, handedOut);
  // Cards that were counted when the trigger was made and are gone before their turn.
  const failed = trigger.failed + (chunk.more ? 0 : total - handedOut);
  const completed = !chunk.more && trigger.succeeded + failed === total;
  const status = completed ? 'completed' : trigger.status;
  await tx.query(sql('saveHandOut'), [
    triggerId,
    chunk.more,
    chunk.lastCardId,
    handedOut,
    total,
    estimated,
    failed,
    status,
  ]);
}
