// Port section of record-store.ts: manual triggers and the counts of their results.

import type { Card } from '../../../domain/cards/card.ts';
import type { CardSelection, ManualTrigger, TriggerResult } from '../../../domain/manual-trigger.ts';
import type { Slice, SliceOf } from '../../../domain/page.ts';
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

/** A trigger that needs the leader. If it is `cancelled`, it has cards to take back; otherwise cards to hand out. */
export type FeedingTrigger = Pick<ManualTrigger, 'triggerId' | 'taskType' | 'status'>;

interface OpenTotals {
  readonly triggers: number;
  /** Partly an estimate if the total of a trigger is one. */
  readonly cards: number;
}

export interface HandOut {
  readonly cardIds: readonly number[];
  readonly more: boolean;
}

/** A card that was handed out and has no result yet. */
export type OwedCard = Pick<TriggerResult, 'triggerId' | 'cardId'>;

/** A card that the gateway does not allow to be polled yet. */
interface DeferredCard extends OwedCard {
  readonly waitMs: number;
}

/** Cards of a trigger that the gateway does not allow to be polled yet. */
export interface EarlyCards {
  readonly triggerId: string;
  readonly cards: number;
  /** When the last of them may be polled. */
  readonly untilAtMs: number;
}

/**
 * Triggers and the counts of their results. A card is handed out (recorded as owed) before it goes into the manual list. It is
 * counted once, with its first result: results may come twice, and cards may be handed out again.
 */
export interface TriggerRecords {
  /**
   * Records a trigger and hands out the first `handOut` cards of a list at once. A trigger with an empty list is
   * complete at once. @returns the trigger, and the cards to put into the manual list now.
   */
  create(
    trigger: NewTrigger,
    handOut: number,
  ): Promise<{ trigger: ManualTrigger; cardIds: readonly number[] }>;
  find(triggerId: string): Promise<ManualTrigger | null>;
  /** @returns triggers, newest first. */
  list(slice: Slice): Promise<SliceOf<ManualTrigger>>;
  /** @returns unfinished triggers that still wait for a poll of this card, newest first. */
  openFor(
    card: Pick<Card, 'cardId' | 'carrierId' | 'status'>,
    limit: number,
  ): Promise<readonly ManualTrigger[]>;
  /** @returns the number of matching cards; the database's own estimate if counting takes too long. */
  countSelected(selection: CardSelection): Promise<{ readonly rows: number; readonly estimated: boolean }>;
  /** @returns the number of unfinished triggers. */
  countOpen(): Promise<number>;
  /** @returns the number of unfinished by-condition triggers of a task type. */
  countOpenConditions(taskType: TaskType): Promise<number>;
  /** @returns the given card ids that exist. */
  knownCards(cardIds: readonly number[]): Promise<readonly number[]>;
  /** Cancels an unfinished trigger; results of running cards still count. @returns null for any other trigger. */
  cancel(triggerId: string): Promise<ManualTrigger | null>;
  /** @returns the unfinished triggers of one task type (null: of all), and the cards that have no result yet. */
  openTotals(taskType: TaskType | null): Promise<OpenTotals>;
  /** Cancels the unfinished triggers of one task type (null: of all). @returns the triggers, and their cards without a result. */
  cancelAll(
    taskType: TaskType | null,
  ): Promise<readonly { readonly triggerId: string; readonly taskType: TaskType; readonly cards: number }[]>;

  /**
   * @returns triggers that need the leader, of each task type at most `limit` that are cancelled and at most `limit`
   * others: the cancelled ones first, then by the number of cards handed out (lowest first), then the oldest first.
   */
  feeding(limit: number): Promise<readonly FeedingTrigger[]>;
  /**
   * Hands out the next cards, at most `limit`. May return none although more follow, because one call scans a bounded number of
   * cards. Each card is handed out by one caller only. After the last card `total` becomes exact: cards that were counted at the
   * start and no longer exist count as failed.
   */
  handOut(triggerId: string, limit: number): Promise<HandOut>;
  /** Counts results, each card once; the last result completes the trigger. Idempotent. */
  count(results: readonly TriggerResult[]): Promise<void>;
  /**
   * @returns owed cards of unfinished triggers that were last put into the list more than `olderThanMs` ago, in a fixed
   * order, after the card `after`.
   */
  owed(
    taskType: TaskType,
    olderThanMs: number,
    after: OwedCard | null,
    limit: number,
  ): Promise<readonly OwedCard[]>;
  /** Records that the cards are put into the list again. @returns the cards that are still owed: put only these. */
  handOutAgain(cards: readonly OwedCard[]): Promise<readonly OwedCard[]>;
  /** Makes the cards owed again after a wait, outside of the list; the leader then puts them into it. */
  defer(cards: readonly DeferredCard[]): Promise<void>;
  /** @returns the waiting cards of these triggers, without triggers that have none; counts at most `most` cards of each. */
  early(triggerIds: readonly string[], most: number): Promise<readonly EarlyCards[]>;
  /** @returns the given cards that were deferred for an unfinished trigger and have no result yet. */
  earlyOf(taskType: TaskType, cardIds: readonly number[]): Promise<readonly OwedCard[]>;
  /** Removes the owed cards of a cancelled trigger, except for these running cards. */
  takeBack(triggerId: string, runningCardIds: readonly number[]): Promise<void>;
}
