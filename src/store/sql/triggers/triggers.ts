// Manual triggers (see TriggerRecords in the port, and migrations/0007_triggers.sql for how counting once works).
import type { ManualTrigger } from '../../../domain/manual-trigger.ts';
import type { TriggerRecords } from '../../ports/records/trigger-records.ts';
import { countWithin } from '../client/bounded-count.ts';
import { arraysOf } from '../client/rows.ts';
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
  const db = sql.on(client);
  return {
    async create({ triggerId, taskType, cards }, handOut) {
      const isSelection = cards.kind === 'by_condition';
      const first = isSelection ? [] : cards.cardIds.slice(0, handOut);
      const more = isSelection || first.length < cards.cardIds.length;
      const trigger = await db.only<ManualTrigger>(
        'create',
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
      );
      return { trigger, cardIds: first };
    },

    find: (triggerId) => db.first('find', triggerId),
    list: (slice) => db.slice('page', 'countAll', [], slice),
    openFor: ({ cardId, carrierId, status }, limit) => db.rows('openFor', cardId, carrierId, status, limit),
    countSelected: ({ carrierId, status }) =>
      countWithin(client, sql.text('selectedCards'), [carrierId, status]),
    countOpen: () => db.count('countOpen'),
    countOpenConditions: (taskType) => db.count('countOpenConditions', taskType),
    openTotals: (taskType) => db.only('openTotals', taskType),
    knownCards: (cardIds) => db.column('knownCards', cardIds),
    cancel: (triggerId) => db.first('cancel', triggerId),
    cancelAll: (taskType) => db.rows('cancelAll', taskType),
    feeding: (limit) => db.rows('feeding', limit),
    handOut: (triggerId, limit) => client.transaction((tx) => handOutNext(tx, triggerId, limit)),
    count: (results) => db.run('count', ...arraysOf(results, 'triggerId', 'cardId', 'succeeded')),
    owed: (taskType, olderThanMs, after, limit) =>
      db.rows('owed', taskType, olderThanMs, after?.triggerId ?? '', after?.cardId ?? 0, limit),
    handOutAgain: (cards) => db.rows('handOutAgain', ...arraysOf(cards, 'triggerId', 'cardId')),
    defer: (cards) => db.run('defer', ...arraysOf(cards, 'triggerId', 'cardId', 'waitMs')),
    early: (triggerIds, most) => db.rows('early', triggerIds, most),
    earlyOf: (taskType, cardIds) => db.rows('earlyOf', taskType, cardIds),

    takeBack: (triggerId, runningCardIds) =>
      client.transaction(async (tx) => {
        const db = sql.on(tx);
        // Locked first, in the order of the code that counts results.
        await db.run('lock', triggerId);
        await db.run('takeBackCards', triggerId, runningCardIds);
        await db.run('endFeeding', triggerId);
      }),
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
  const trigger = await sql.on(tx).first<LockedRow>('lockFeeding', triggerId);
  if (trigger === null) return { cardIds: [], more: false };
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
  const { cardIds } = await sql.on(tx).only<Pick<Chunk, 'cardIds'>>('listed', triggerId, before, limit);
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
  const { cardIds, lookedAt, lastLookedAt } = await sql.on(tx).only<PieceRow>('selected', ...params);
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
  const { more, lastCardId } = chunk;
  const params = [triggerId, more, lastCardId, handedOut, total, estimated, failed, status];
  await sql.on(tx).run('saveHandOut', ...params);
}
