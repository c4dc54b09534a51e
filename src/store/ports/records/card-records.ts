// Port section of record-store.ts: the cards themselves.
import type {
  Card,
  CardAttributes,
  CardImport,
  CardMembership,
  CardState,
} from '../../../domain/cards/card.ts';
import type { CardFilter } from '../../../domain/cards/card-filter.ts';
import type { TakenNumber } from '../../../domain/cards/taken-numbers.ts';
import type { UsageMonth } from '../../../domain/cards/usage-month.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** The durable part of the output of `cards show`. */
export interface CardRecord extends Card {
  readonly lastPolledAtMs: Partial<Record<TaskType, number>>;
}

export interface CardChanges {
  readonly changed: readonly CardMembership[];
  readonly removed: readonly number[];
  /** The mark for the next call. */
  readonly mark: string;
  /** Whether all changes committed before the call are included; false: more follow. */
  readonly caughtUp: boolean;
}

/** The result of a chunk of an import. */
export interface ImportedChunk {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Rows that ask for a number of another card, and were skipped. */
  readonly conflicts: readonly TakenNumber[];
  /** Cards that get an ICCID: new cards, and known cards that had another one. */
  readonly newIccids: number;
  /** Cards that get an ICCID that ends in ROUNDED_END. */
  readonly rounded: readonly number[];
  /** Cards that get an ICCID that another card has with or without the last digit. Empty unless `dryRun`. */
  readonly twins: readonly number[];
  /** Running cards that the chunk puts over their monthly package: they will be stopped. */
  readonly overPackage: number;
  /** Cards that cardpoll stopped, and that are within a package which a row enlarges. */
  readonly stoppedWithin: number;
  /** Nothing was written, because of `mostOverPackage`. */
  readonly refused: boolean;
  /** The cards before their update, as rows of an import that undoes the update; empty without `keepFormer`. */
  readonly former: readonly CardImport[];
}

export interface ImportChunkOptions {
  /** Only counts the changes and writes nothing; a chunk does not see the rows of earlier chunks. Default, as below: false. */
  readonly dryRun?: boolean | undefined;
  /**
   * A row replaces the verification that polls have found, and may set a verified card to unverified; otherwise it keeps them.
   * Without a poll of the current SIM, a row that says verified applies.
   */
  readonly overwriteVerified?: boolean | undefined;
  /** Returns the cards before their update. */
  readonly keepFormer?: boolean;
  /** A hint that all rows may be new cards, as in the previous chunk. Affects only the speed. */
  readonly expectNew?: boolean;
  /** The current month, YYYY-MM. Without it no card counts as over its package. */
  readonly month?: string | undefined;
  /** The chunk is refused if it puts more cards than this over their package. Default: no limit. */
  readonly mostOverPackage?: number | undefined;
}

export type ListedCard = CardAttributes & CardState;

interface CardStretch {
  readonly cards: readonly ListedCard[];
  /** The `afterId` of the next call; null when there are no more cards. */
  readonly nextAfterId: number | null;
}

export interface CardRecords {
  /** @returns at most `limit` cards with id > afterId, in id order, for the initialiser. */
  page(afterId: number, limit: number): Promise<CardMembership[]>;
  /** @param answerTimeoutMs without an answer for this long, the connection counts as broken */
  byIds(cardIds: readonly number[], answerTimeoutMs?: number): Promise<Card[]>;
  /** Finds a card by card_id or by iccid (18 or more digits are an iccid). @returns null when it is unknown. */
  find(cardIdOrIccid: string): Promise<CardRecord | null>;
  /**
   * @returns the time of each card's last successful poll of this task type, epoch milliseconds; without cards that have none.
   */
  lastPolls(taskType: TaskType, cardIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** @returns the last `limit` months with a reading, latest first. */
  monthlyUsage(cardId: number, limit: number): Promise<ReadonlyArray<Pick<UsageMonth, 'month' | 'usedMb'>>>;
  /** @returns when the card got its current allowance, epoch milliseconds; null: no such card. */
  allowanceChangedAt(cardId: number): Promise<number | null>;
  /** @returns the exact number of cards; takes seconds for tens of millions. */
  count(): Promise<number>;
  /** @returns the number of cards quickly: exact for a small fleet, the planner's estimate for a large one. */
  estimate(): Promise<number>;
  /** @returns the number of cards; of a large fleet by the last walk over all cards (`StopRecords.sweep`). */
  counted(): Promise<number>;
  /**
   * Writes a chunk of an import (up to 10,000 rows, card ids distinct within the chunk) in one short transaction, in which cards
   * may exchange their ICCIDs and vendor ids. A failed import keeps its finished chunks and can be repeated.
   */
  importChunk(rows: readonly CardImport[], options?: ImportChunkOptions): Promise<ImportedChunk>;
  /**
   * @returns at most `limit` matching cards with id > afterId, in id order. May be empty although more follow, because one call
   * looks at a bounded number of cards.
   */
  list(filter: CardFilter, afterId: number, limit: number): Promise<CardStretch>;
  /** @returns the highest card id; 0 without cards. */
  lastId(): Promise<number>;

  /**
   * @returns a mark of this instant: `changesSince(mark)` reports every change that is not committed and visible now.
   */
  changeMark(): Promise<string>;
  /**
   * @returns cards that any client (also plain SQL) added, removed, or changed in a column that decides their ring or is
   * cached (identity, carrier, status, allowance, verified), committed after `mark`. Each call returns at most `limit`
   * changed and `limit` removed cards; call again with the new mark until `caughtUp`. Never misses a late commit.
   * @throws CardpollError `conflict` / `change_mark_ahead` when the database is older than the mark (restored from a copy).
   */
  changesSince(mark: string, limit: number): Promise<CardChanges>;
}
