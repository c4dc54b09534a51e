// Port section of record-store.ts: cards that are resumed again, in runs.
//
// A run is a list of cards: those that its selection had when the run was made. They are placed in it in steps, of some ten
// thousand each, and each is due from then on. The next package poll resumes it, once: the claim of a call is a lease, as that
// of a stop is.
import type { Actor, AuditEntry } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';

/**
 * The cards of a run: a list, or what cardpoll stopped since a time and is stopped now. A stop that an operator ordered is
 * not cardpoll's.
 */
export type ResumeSelection =
  | { readonly cardIds: readonly number[] }
  | { readonly sinceMs: number; readonly carrierId: number | null };

/** What cardpoll stopped by itself in the month before the one that begins (YYYY-MM), and is stopped now. */
export interface MonthSelection {
  readonly beginning: string;
}

interface ResumeRequest {
  readonly selection: ResumeSelection;
  /** Number of its cards, as counted by `preview`. */
  readonly expected: number;
  /** Whether its cards may be stopped again in the month, by a reading taken after the resume. */
  readonly stopAgain: boolean;
  readonly by: Pick<Actor, 'name' | 'role'>;
  readonly reason: string;
}

export interface ResumeRun {
  readonly id: string;
  readonly reason: string;
  readonly by: string;
  readonly stopAgain: boolean;
  /** Cards are still placed in it; `filled` are. */
  readonly isFilling: boolean;
  readonly filled: number;
  /** Number of its cards (as expected while it is filling), and of those that wait, by how they ended. */
  readonly total: number;
  readonly waiting: number;
  readonly resumed: number;
  /** The gateway showed the card running, and no call of the run explains it. */
  readonly alreadyRunning: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Cards of its list that are not in it: unknown, or waiting in another run. */
  readonly skipped: number;
  readonly createdAtMs: number;
  readonly cancelledAtMs: number | null;
  /** When its last card ended; null while cards wait. */
  readonly finishedAtMs: number | null;
  /** An error of one of its calls, not always of the last one; null: none. */
  readonly lastError: string | null;
}

/** The answer to a claim; only `granted` and `unresolved` (an earlier call may have been made) allow the call. */
export type ResumeClaim =
  | { readonly state: 'granted' | 'unresolved'; readonly runId: string; readonly attempt: number }
  | { readonly state: 'none' } // the card waits in no run
  | { readonly state: 'claimed'; readonly runId: string } // another caller holds the claim
  | { readonly state: 'stopping'; readonly runId: string } // a call that stops the card may be under way
  | { readonly state: 'unconfirmed'; readonly runId: string }; // acknowledged without effect; not again yet

export interface ResumeRecords {
  /** @returns how many cards the run would have, and how many of a list would be skipped. */
  preview(
    selection: ResumeSelection | MonthSelection,
  ): Promise<{ readonly total: number; readonly skipped: number }>;
  /** Makes a run that has no cards yet: `advance` places them. Cards that wait in another run are skipped. */
  create(request: ResumeRequest): Promise<ResumeRun>;
  /**
   * Makes the run of a month that begins, once. Its cards are due at random times of the next `spreadMs`.
   * @returns null when the month has its run.
   */
  createForMonth(selection: MonthSelection, expected: number, spreadMs: number): Promise<ResumeRun | null>;
  hasRunFor(selection: MonthSelection): Promise<boolean>;
  /**
   * Makes one step: places cards in a run, or marks those of a cancelled one. Any number of callers may do so at once.
   * @returns whether steps are left.
   */
  advance(id: string): Promise<boolean>;
  /** @returns the ids of runs with steps left, oldest first. */
  withStepsLeft(): Promise<readonly string[]>;
  /** @returns null for an unknown id. */
  find(id: string): Promise<ResumeRun | null>;
  /** @returns the latest runs, latest first. */
  latest(limit: number): Promise<readonly ResumeRun[]>;
  /** From now on no card that waits is resumed; a call that is being made ends normally. @returns null for an unknown id. */
  cancel(id: string): Promise<ResumeRun | null>;

  /** Claims the right to resume a card that waits in a run. */
  claim(cardId: number, leaseMs: number): Promise<ResumeClaim>;
  /**
   * Call when the gateway shows the card running. The card is no longer stopped, its last stop is `resumed` (also one that
   * was requested before the run and not confirmed), and the audit trail has it, in one transaction.
   * @param called whether a call of the run may have done it.
   * @returns the entry; null when the card does not wait in the run any more.
   */
  complete(cardId: number, runId: string, month: string, called: boolean): Promise<AuditEntry | null>;
  /**
   * Call when the gateway acknowledged the call and does not show the card running.
   * @returns whether the card ended as failed: it was refused, or acknowledged without effect, too often; false also when
   * another caller has the claim.
   */
  acknowledge(cardId: number, runId: string, attempt: number): Promise<boolean>;
  /**
   * Call when the call certainly had no effect. Otherwise as `acknowledge`.
   * @param refused whether the gateway refused this card, which counts.
   */
  abandon(cardId: number, runId: string, attempt: number, error: string, refused: boolean): Promise<boolean>;
  /** @returns cards that are to be resumed and due; they are not due again for a minute. */
  due(limit: number): Promise<CardMembership[]>;
}
