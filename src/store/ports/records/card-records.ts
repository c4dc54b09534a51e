// Port section of record-store.ts: the cards themselves.
import type { Card, CardImport, CardMembership } from '../../../domain/cards/card.ts';
import type { CardSelection } from '../../../domain/manual-trigger.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** Everything `cards show` knows that is durable. */
export interface CardRecord extends Card {
  readonly lastPolledAtMs: Partial<Record<TaskType, number>>;
}

/** What a card used in a calendar month. */
export interface MonthlyUsage {
  /** YYYY-MM */
  readonly month: string;
  readonly usedMb: number;
}

export interface CardChanges {
  readonly changed: readonly CardMembership[];
  readonly removed: readonly number[];
  /** Hand this to the next call. */
  readonly mark: string;
}

export interface ImportCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** An iccid that belongs to another card already; the row was left out. */
export interface ImportConflict {
  readonly cardId: number;
  readonly iccid: string;
}

/** One running import. Rows become visible chunk by chunk; a failed import keeps its finished chunks and may be repeated. */
export interface CardImportSession {
  /** Writes one chunk (up to 10,000 rows, card ids distinct within the chunk) in one short transaction. */
  write(rows: readonly CardImport[]): Promise<ImportCounts & { conflicts: readonly ImportConflict[] }>;
  close(): Promise<void>;
}

export interface ImportSessionOptions {
  /** Counts what would be done and writes nothing; a chunk knows nothing of those before it. */
  readonly dryRun: boolean;
}

/** Null leaves the attribute open. */
export interface CardFilter extends CardSelection {
  readonly stopped: boolean | null;
}

export type ListedCard = Omit<Card, 'usage'>;

export interface CardStretch {
  readonly cards: readonly ListedCard[];
  /** Where the next stretch begins; null: there are no further cards. */
  readonly nextAfterId: number | null;
}

export interface CardRecords {
  /** Cards with id > afterId in id order, at most `limit`: the initialiser's page. */
  page(afterId: number, limit: number): Promise<CardMembership[]>;
  /** @param answerTimeoutMs without an answer for this long the way to the store counts as broken */
  byIds(cardIds: readonly number[], answerTimeoutMs?: number): Promise<Card[]>;
  /** By card_id or by iccid (18 or more digits are an iccid); null when unknown. */
  find(cardIdOrIccid: string): Promise<CardRecord | null>;
  /** The last `limit` months with a reading, the latest first. */
  monthlyUsage(cardId: number, limit: number): Promise<readonly MonthlyUsage[]>;
  /** Exact; takes seconds for tens of millions. */
  count(): Promise<number>;
  /** About how many cards there are, at once: exact for a small fleet, by the planner's knowledge for a large one. */
  estimate(): Promise<number>;
  openImport(options?: ImportSessionOptions): Promise<CardImportSession>;
  /**
   * Cards that match with id > afterId, in id order: at most `limit`, perhaps none although there are more, because one
   * call looks at a bounded number of cards.
   */
  list(filter: CardFilter, afterId: number, limit: number): Promise<CardStretch>;
  /** The highest card id; 0 without cards. */
  lastId(): Promise<number>;

  /** The mark of this instant: `changesSince` it reports every change not yet committed or visible now. */
  changeMark(): Promise<string>;
  /**
   * Cards added, changed in what decides their rings or what the cache holds (identity, carrier, status, allowance,
   * verified), or removed, by anyone (also plain SQL), committed after `mark`. At most `limit` changed and `limit`
   * removed cards a call; call again with the new mark until both are empty. Never misses a late commit.
   * Throws `conflict` / `change_mark_ahead` when the database is older than the mark (restored from a copy).
   */
  changesSince(mark: string, limit: number): Promise<CardChanges>;
}
