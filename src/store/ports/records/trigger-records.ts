// Port section of record-store.ts: manual triggers and the count of their results.

import type { Card } from '../../../domain/cards/card.ts';
import type { CardSelection, ManualTrigger, TriggerResult } from '../../../domain/manual-trigger.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface NewTrigger {
  readonly triggerId: string;
  readonly taskType: TaskType;
  readonly cards:
    | { readonly kind: 'single' | 'batch'; readonly cardIds: readonly number[] }
    | {
        readonly kind: 'by_condition';
        readonly selection: CardSelection;
        readonly total: number;
        readonly totalEstimated: boolean;
      };
}

/** A trigger the leader has work with. `cancelled`: cards to take back; otherwise cards to hand out. */
export type FeedingTrigger = Pick<ManualTrigger, 'triggerId' | 'taskType' | 'status'>;

/** A card that was handed out and whose result is still to come. */
export type OwedCard = Pick<TriggerResult, 'triggerId' | 'cardId'>;

/**
 * Triggers and the count of their results. A card is handed out (written down as owed) before it goes into the
 * manual list, and counted once, when its first result comes: results may come twice, cards be handed out again.
 */
export interface TriggerRecords {
  /**
   * Records a trigger and hands out the first `handOut` cards of a list at once; a list without cards is completed.
   * @returns the trigger, and the cards to put into the manual list now.
   */
  create(
    trigger: NewTrigger,
    handOut: number,
  ): Promise<{ trigger: ManualTrigger; cardIds: readonly number[] }>;
  find(triggerId: string): Promise<ManualTrigger | null>;
  /** One page of all triggers, newest first. @param page from 1 */
  list(page: number, pageSize: number): Promise<{ items: readonly ManualTrigger[]; total: number }>;
  /** Unfinished triggers that still ask for a poll of this card, newest first. */
  openFor(
    card: Pick<Card, 'cardId' | 'carrierId' | 'status'>,
    limit: number,
  ): Promise<readonly ManualTrigger[]>;
  /** Cards that match; the database's own estimate where counting takes longer than anybody waits. */
  countSelected(selection: CardSelection): Promise<{ readonly rows: number; readonly estimated: boolean }>;
  /** Triggers that are not over. */
  countOpen(): Promise<number>;
  /** Those of the cards that exist. */
  knownCards(cardIds: readonly number[]): Promise<readonly number[]>;
  /** Cancels an unfinished trigger; results of cards that run go on being counted. @returns null for any other. */
  cancel(triggerId: string): Promise<ManualTrigger | null>;

  /**
   * Triggers that need the leader, at most `limit` of a task type: cancelled ones first, then those of which least was
   * handed out, then the oldest.
   */
  feeding(limit: number): Promise<readonly FeedingTrigger[]>;
  /**
   * Hands out the next cards, at most `limit`, perhaps none although there are more: one call looks at a bounded
   * number of cards. Each card is handed out by one caller only. When there are no more, `total` becomes exact: cards
   * that were counted at the start and are gone by now count as failed.
   */
  handOut(
    triggerId: string,
    limit: number,
  ): Promise<{ readonly cardIds: readonly number[]; readonly more: boolean }>;
  /** Counts results, each card once; completes a trigger with its last one. Safe to repeat. */
  count(results: readonly TriggerResult[]): Promise<void>;
  /** Owed cards of unfinished triggers last put into the list more than `olderThanMs` ago, in a fixed order after `after`. */
  owed(
    taskType: TaskType,
    olderThanMs: number,
    after: OwedCard | null,
    limit: number,
  ): Promise<readonly OwedCard[]>;
  /** Notes that the cards are put into the list again. @returns those that are still owed: only they are to be put. */
  handOutAgain(cards: readonly OwedCard[]): Promise<readonly OwedCard[]>;
  /** Of a cancelled trigger nothing but these running cards is owed any more. */
  takeBack(triggerId: string, runningCardIds: readonly number[]): Promise<void>;
}
