// Manual triggers (see TriggerRecords in the port, and migrations/0007_triggers.sql for how counting once works).
import type { Card } from '../../../domain/cards/card.ts';
import type { CardSelection, ManualTrigger, TriggerResult } from '../../../domain/manual-trigger.ts';
import type { Slice, SliceOf } from '../../../domain/page.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type {
  DeferredCard,
  EarlyCards,
  FeedingTrigger,
  NewTrigger,
  OpenTotals,
  OwedCard,
  TriggerRecords,
} from '../../ports/records/trigger-records.ts';
import { countWithin } from '../client/bounded-count.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { handOutNext } from './trigger-hand-out.ts';
import file from './triggers.sql';

const SQL = statements(
  file,
  'create',
  'find',
  'page',
  'countAll',
  'countOpen',
  'countOpenConditions',
  'openTotals',
  'openFor',
  'selectedCards',
  'knownCards',
  'cancel',
  'cancelAll',
  'feeding',
  'count',
  'owed',
  'handOutAgain',
  'defer',
  'early',
  'earlyOf',
  'lock',
  'takeBackCards',
  'endFeeding',
);

type TriggerRow = Omit<ManualTrigger, 'selection'> & {
  readonly carrierId: number | null;
  readonly cardStatus: number | null;
};

export class SqlTriggers implements TriggerRecords {
  constructor(private readonly client: SqlClient) {}

  async create(
    { triggerId, taskType, cards }: NewTrigger,
    handOut: number,
  ): Promise<{ trigger: ManualTrigger; cardIds: readonly number[] }> {
    const isSelection = cards.kind === 'by_condition';
    const first = isSelection ? [] : cards.cardIds.slice(0, handOut);
    const more = isSelection || first.length < cards.cardIds.length;
    const [row] = await this.client.query<TriggerRow>(SQL.create, [
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
    const [row] = await this.client.query<TriggerRow>(SQL.find, [triggerId]);
    return row === undefined ? null : toTrigger(row);
  }

  async list({ offset, limit }: Slice): Promise<SliceOf<ManualTrigger>> {
    const rows = await this.client.query<TriggerRow>(SQL.page, [limit, offset]);
    const [count] = await this.client.query<{ total: number }>(SQL.countAll);
    return { items: rows.map(toTrigger), total: count?.total ?? 0 };
  }

  async openFor(
    { cardId, carrierId, status }: Pick<Card, 'cardId' | 'carrierId' | 'status'>,
    limit: number,
  ): Promise<ManualTrigger[]> {
    const rows = await this.client.query<TriggerRow>(SQL.openFor, [cardId, carrierId, status, limit]);
    return rows.map(toTrigger);
  }

  countSelected({ carrierId, status }: CardSelection): Promise<{ rows: number; estimated: boolean }> {
    return countWithin(this.client, SQL.selectedCards.text, [carrierId, status]);
  }

  async countOpen(): Promise<number> {
    const [row] = await this.client.query<{ open: number }>(SQL.countOpen);
    return row?.open ?? 0;
  }

  async countOpenConditions(taskType: TaskType): Promise<number> {
    const [row] = await this.client.query<{ open: number }>(SQL.countOpenConditions, [taskType]);
    return row?.open ?? 0;
  }

  async openTotals(taskType: TaskType | null): Promise<OpenTotals> {
    const [row] = await this.client.query<OpenTotals>(SQL.openTotals, [taskType]);
    return row as OpenTotals;
  }

  async knownCards(cardIds: readonly number[]): Promise<number[]> {
    const rows = await this.client.query<{ cardId: number }>(SQL.knownCards, [cardIds]);
    return rows.map((row) => row.cardId);
  }

  async cancel(triggerId: string): Promise<ManualTrigger | null> {
    const [row] = await this.client.query<TriggerRow>(SQL.cancel, [triggerId]);
    return row === undefined ? null : toTrigger(row);
  }

  cancelAll(taskType: TaskType | null): Promise<{ triggerId: string; taskType: TaskType; cards: number }[]> {
    return this.client.query(SQL.cancelAll, [taskType]);
  }

  feeding(limit: number): Promise<FeedingTrigger[]> {
    return this.client.query<FeedingTrigger>(SQL.feeding, [limit]);
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
    await this.client.query(SQL.count, params);
  }

  owed(taskType: TaskType, olderThanMs: number, after: OwedCard | null, limit: number): Promise<OwedCard[]> {
    const position = [after?.triggerId ?? '', after?.cardId ?? 0];
    return this.client.query<OwedCard>(SQL.owed, [taskType, olderThanMs, ...position, limit]);
  }

  handOutAgain(cards: readonly OwedCard[]): Promise<OwedCard[]> {
    return this.client.query<OwedCard>(SQL.handOutAgain, [
      cards.map(({ triggerId }) => triggerId),
      cards.map(({ cardId }) => cardId),
    ]);
  }

  async defer(cards: readonly DeferredCard[]): Promise<void> {
    await this.client.query(SQL.defer, [
      cards.map(({ triggerId }) => triggerId),
      cards.map(({ cardId }) => cardId),
      cards.map(({ waitMs }) => waitMs),
    ]);
  }

  early(triggerIds: readonly string[], most: number): Promise<EarlyCards[]> {
    return this.client.query<EarlyCards>(SQL.early, [triggerIds, most]);
  }

  earlyOf(taskType: TaskType, cardIds: readonly number[]): Promise<OwedCard[]> {
    return this.client.query<OwedCard>(SQL.earlyOf, [taskType, cardIds]);
  }

  async takeBack(triggerId: string, runningCardIds: readonly number[]): Promise<void> {
    await this.client.transaction(async (tx) => {
      // Locked first, in the order of the code that counts results.
      await tx.query(SQL.lock, [triggerId]);
      await tx.query(SQL.takeBackCards, [triggerId, runningCardIds]);
      await tx.query(SQL.endFeeding, [triggerId]);
    });
  }
}

function toTrigger(row: TriggerRow): ManualTrigger {
  const { triggerId, kind, taskType, status, carrierId, cardStatus, ...progress } = row;
  const selection = kind === 'by_condition' ? { carrierId, status: cardStatus } : null;
  return { triggerId, kind, taskType, status, selection, ...progress };
}
