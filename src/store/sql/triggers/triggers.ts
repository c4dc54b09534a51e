// Manual triggers (see TriggerRecords in the port, and migrations/0.2/0007_triggers.sql for how counting once works).
import type { ManualTrigger } from '../../../domain/manual-trigger.ts';
import type { HandOut, TriggerRecords } from '../../ports/records/trigger-records.ts';
import { countWithin } from '../client/bounded-count.ts';
import { arraysOf, jsonOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './triggers.sql';

const sql = statements(file);

/** Cards scanned in one call: a few milliseconds. */
const PIECE_CARDS = 10_000;

export function sqlTriggers(client: SqlClient): TriggerRecords {
  const db = sql.on(client);
  return {
    async create({ triggerId, taskType, cards }, handOut) {
      const trigger = await db.one<ManualTrigger>('create', triggerId, taskType, jsonOf(cards), handOut);
      return { trigger, cardIds: cards.kind === 'by_condition' ? [] : cards.cardIds.slice(0, handOut) };
    },

    find: (triggerId) => db.first('find', triggerId),
    list: (slice) => db.slice('page', 'countAll', [], slice),
    openFor: ({ cardId, carrierId, status }, limit) => db.rows('openFor', cardId, carrierId, status, limit),
    countSelected: ({ carrierId, status }) =>
      countWithin(client, sql.text('selectedCards'), [carrierId, status]),
    countOpen: () => db.count('countOpen'),
    countOpenConditions: (taskType) => db.count('countOpenConditions', taskType),
    openTotals: (taskType) => db.one('openTotals', taskType),
    knownCards: (cardIds) => db.column('knownCards', cardIds),
    cancel: (triggerId) => db.first('cancel', triggerId),
    cancelAll: (taskType) => db.rows('cancelAll', taskType),
    feeding: (limit) => db.rows('feeding', limit),
    handOut: async (triggerId, limit) =>
      (await db.first<HandOut>('handOut', triggerId, limit, PIECE_CARDS)) ?? { cardIds: [], more: false },
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
