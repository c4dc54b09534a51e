// Manual triggers (see TriggerRecords in the port, and migrations/0007_triggers.sql for how counting once works).
import type { Card } from '../../domain/card.ts';
import type { CardSelection, ManualTrigger, TriggerResult } from '../../domain/manual-trigger.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { FeedingTrigger, NewTrigger, OwedCard, TriggerRecords } from '../ports/trigger-records.ts';
import countTriggerResults from './queries/count-trigger-results.sql';
import createTrigger from './queries/create-trigger.sql';
import openTriggersOfCard from './queries/open-triggers-of-card.sql';
import { countSelectedCards } from './selected-cards.ts';
import type { PreparedSql, SqlClient } from './sql-client.ts';
import { handOutNext } from './trigger-hand-out.ts';
import { TRIGGER_COLUMNS, type TriggerRow, toTrigger } from './trigger-row.ts';

const CREATE: PreparedSql = { name: 'create_trigger', text: createTrigger };
const COUNT: PreparedSql = { name: 'count_trigger_results', text: countTriggerResults };
const FEEDING: PreparedSql = {
  name: 'feeding_triggers',
  text: `SELECT trigger_id, task_type, status FROM manual_triggers WHERE feeding ORDER BY sequence LIMIT $1::integer`,
};
const OWED: PreparedSql = {
  name: 'owed_cards',
  text: `SELECT c.trigger_id, c.card_id
    FROM manual_trigger_cards c JOIN manual_triggers t USING (trigger_id)
    WHERE t.task_type = $1::text AND t.status IN ('queued', 'running')
      AND c.handed_out_at < clock_timestamp() - $2::float8 * interval '1 millisecond'
      AND (c.trigger_id, c.card_id) > ($3::text, $4::bigint)
    ORDER BY c.trigger_id, c.card_id
    LIMIT $5::integer`,
};

interface OwedRow {
  readonly trigger_id: string;
  readonly card_id: number;
}

export class SqlTriggers implements TriggerRecords {
  constructor(private readonly client: SqlClient) {}

  async create(
    { triggerId, taskType, cards }: NewTrigger,
    handOut: number,
  ): Promise<{ trigger: ManualTrigger; cardIds: readonly number[] }> {
    const isSelection = cards.kind === 'by_condition';
    const first = isSelection ? [] : cards.cardIds.slice(0, handOut);
    const more = isSelection || first.length < cards.cardIds.length;
    const [row] = await this.client.query<TriggerRow>(CREATE, [
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
    return { trigger: toTrigger(row as TriggerRow), cardIds: first };
  }

  async find(triggerId: string): Promise<ManualTrigger | null> {
    const [row] = await this.client.query<TriggerRow>(
      `SELECT ${TRIGGER_COLUMNS} FROM manual_triggers WHERE trigger_id = $1`,
      [triggerId],
    );
    return row === undefined ? null : toTrigger(row);
  }

  async list(page: number, pageSize: number): Promise<{ items: ManualTrigger[]; total: number }> {
    const rows = await this.client.query<TriggerRow>(
      `SELECT ${TRIGGER_COLUMNS} FROM manual_triggers ORDER BY sequence DESC LIMIT $1::integer OFFSET $2::bigint`,
      [pageSize, (page - 1) * pageSize],
    );
    const [count] = await this.client.query<{ total: number }>(
      'SELECT count(*) AS total FROM manual_triggers',
    );
    return { items: rows.map(toTrigger), total: count?.total ?? 0 };
  }

  async openFor(
    { cardId, carrierId, status }: Pick<Card, 'cardId' | 'carrierId' | 'status'>,
    limit: number,
  ): Promise<ManualTrigger[]> {
    const rows = await this.client.query<TriggerRow>(openTriggersOfCard, [cardId, carrierId, status, limit]);
    return rows.map(toTrigger);
  }

  countSelected(selection: CardSelection, withinMs: number): Promise<{ count: number; estimated: boolean }> {
    return countSelectedCards(this.client, selection, withinMs);
  }

  async countOpen(): Promise<number> {
    const [row] = await this.client.query<{ open: number }>(
      'SELECT count(*) AS open FROM manual_triggers WHERE finished_at IS NULL',
    );
    return row?.open ?? 0;
  }

  async knownCards(cardIds: readonly number[]): Promise<number[]> {
    const rows = await this.client.query<{ card_id: number }>(
      'SELECT card_id FROM cards WHERE card_id = ANY ($1::bigint[])',
      [cardIds],
    );
    return rows.map((row) => row.card_id);
  }

  async cancel(triggerId: string): Promise<ManualTrigger | null> {
    const [row] = await this.client.query<TriggerRow>(
      `UPDATE manual_triggers
       SET status = 'cancelled', finished_at = clock_timestamp(), feeding = true, card_ids = NULL
       WHERE trigger_id = $1 AND status IN ('queued', 'running') RETURNING ${TRIGGER_COLUMNS}`,
      [triggerId],
    );
    return row === undefined ? null : toTrigger(row);
  }

  async feeding(limit: number): Promise<FeedingTrigger[]> {
    const rows = await this.client.query<Pick<TriggerRow, 'trigger_id' | 'task_type' | 'status'>>(FEEDING, [
      limit,
    ]);
    return rows.map((row) => ({ triggerId: row.trigger_id, taskType: row.task_type, status: row.status }));
  }

  handOut(triggerId: string, limit: number): Promise<{ cardIds: readonly number[]; more: boolean }> {
    return this.client.transaction((tx) => handOutNext(tx, triggerId, limit));
  }

  async count(results: readonly TriggerResult[]): Promise<void> {
    const params = [
      results.map(({ triggerId }) => triggerId),
      results.map(({ cardId }) => cardId),
      results.map(({ succeeded }) => succeeded),
    ];
    await this.client.query(COUNT, params);
  }

  async owed(
    taskType: TaskType,
    olderThanMs: number,
    after: OwedCard | null,
    limit: number,
  ): Promise<OwedCard[]> {
    const position = [after?.triggerId ?? '', after?.cardId ?? 0];
    const rows = await this.client.query<OwedRow>(OWED, [taskType, olderThanMs, ...position, limit]);
    return rows.map(toOwed);
  }

  async handOutAgain(cards: readonly OwedCard[]): Promise<OwedCard[]> {
    // The triggers are locked first, as by whoever counts results: two that meet on many cards wait, and cannot deadlock.
    const rows = await this.client.query<OwedRow>(
      `WITH locked AS MATERIALIZED (
         SELECT trigger_id FROM manual_triggers WHERE trigger_id = ANY ($1::text[]) ORDER BY trigger_id FOR UPDATE
       )
       UPDATE manual_trigger_cards c SET handed_out_at = clock_timestamp()
       FROM unnest($1::text[], $2::bigint[]) AS again (trigger_id, card_id) JOIN locked USING (trigger_id)
       WHERE c.trigger_id = again.trigger_id AND c.card_id = again.card_id
       RETURNING c.trigger_id, c.card_id`,
      [cards.map(({ triggerId }) => triggerId), cards.map(({ cardId }) => cardId)],
    );
    return rows.map(toOwed);
  }

  async takeBack(triggerId: string, runningCardIds: readonly number[]): Promise<void> {
    await this.client.transaction(async (tx) => {
      // Locked first, as whoever counts results does.
      await tx.query('SELECT FROM manual_triggers WHERE trigger_id = $1 FOR UPDATE', [triggerId]);
      await tx.query(
        'DELETE FROM manual_trigger_cards WHERE trigger_id = $1 AND card_id <> ALL ($2::bigint[])',
        [triggerId, runningCardIds],
      );
      await tx.query(
        `UPDATE manual_triggers SET feeding = false
         WHERE trigger_id = $1 AND status = 'cancelled'
           AND NOT EXISTS (SELECT FROM manual_trigger_cards WHERE trigger_id = $1)`,
        [triggerId],
      );
    });
  }
}

function toOwed(row: OwedRow): OwedCard {
  return { triggerId: row.trigger_id, cardId: row.card_id };
}
