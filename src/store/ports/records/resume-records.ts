// Port section of record-store.ts: runs that resume stopped cards.
//
// A run has the cards that matched its selection when it was created; later decisions about a card do not change it. The cards
// are handed out as they are resumed, some thousand at a time, and each is due from then on. An order worker resumes it, once:
// the claim of a call is a lease, as for a stop.
import type { Actor, AuditEntry } from '../../../domain/audit.ts';
import type { NamedCard } from '../../../domain/cards/card.ts';
import type { AskedCard } from './stop-records.ts';

/**
 * The cards of a run: a list, or the cards that cardpoll stopped since a time and that are stopped now, or may be: the stop was
 * called and is not confirmed yet. Stops that an operator ordered are not cardpoll's.
 */
export type ResumeSelection =
  | { readonly cardIds: readonly number[] }
  | { readonly sinceMs: number; readonly carrierId: number | null };

/** Cards that cardpoll stopped by itself in the month before the new one (YYYY-MM), and that are stopped now. */
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
  /** Start of the stops that it was made from; null: made from a list. */
  readonly sinceMs: number | null;
  readonly carrierId: number | null;
  /** Number of its cards (as expected while they are handed out), of the waiting ones, and of the others by their end. */
  readonly total: number;
  readonly waiting: number;
  readonly resumed: number;
  /** The gateway showed the card running without a call of the run. */
  readonly alreadyRunning: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Expected cards that are not in it: unknown, waiting in another run, or not stopped any more. */
  readonly skipped: number;
  /** Some of the cards that failed, or that an order took out of it. */
  readonly notResumed: readonly NotResumed[];
  readonly createdAtMs: number;
  readonly cancelledAtMs: number | null;
  /** When its last card ended; null while cards wait. */
  readonly finishedAtMs: number | null;
  /** An error of one of its calls, not always of the last one; null: none. */
  readonly lastError: string | null;
}

interface NotResumed {
  readonly cardId: number;
  readonly state: 'failed' | 'cancelled';
  readonly error: string;
}

/** The answer to a claim; only `granted` and `unresolved` (an earlier call may have been made) allow the call. */
export type ResumeClaim =
  | { readonly state: 'granted' | 'unresolved'; readonly runId: string; readonly attempt: number }
  | { readonly state: 'none' } // the card waits in no run
  | { readonly state: 'other_iccid'; readonly runId: string } // the status belongs to another SIM
  | { readonly state: 'running'; readonly runId: string } // it runs already, so no call is needed
  | { readonly state: 'settling'; readonly runId: string } // it runs, and a call that stops it may still take effect
  | { readonly state: 'pending'; readonly runId: string } // the vendor reports that it works on the card
  | { readonly state: 'failed'; readonly runId: string } // the last call had no effect either
  | { readonly state: 'claimed'; readonly runId: string } // another caller holds the claim
  | { readonly state: 'stopping'; readonly runId: string } // a call that stops the card may be in flight
  | { readonly state: 'unconfirmed'; readonly runId: string }; // acknowledged without effect; too early to repeat

export interface ResumeRecords {
  /** @returns how many cards the run would have, and how many of a list would be skipped. */
  preview(
    selection: ResumeSelection | MonthSelection,
  ): Promise<{ readonly total: number; readonly skipped: number }>;
  /** Creates a run without cards: `handOut` adds them. Cards that wait in another run are skipped. */
  create(request: ResumeRequest): Promise<ResumeRun>;
  /**
   * Creates the run of a new month, once. Its cards are handed out over the next `spreadMs`.
   * @returns null when the month has its run.
   */
  createForMonth(selection: MonthSelection, expected: number, spreadMs: number): Promise<ResumeRun | null>;
  hasRunFor(selection: MonthSelection): Promise<boolean>;
  /**
   * Makes one step: counts cards that ended, and hands out as many as may wait. Any number of callers may do so at once.
   * @returns whether a further step would hand out more now.
   */
  handOut(id: string): Promise<boolean>;
  /** @returns the ids of runs with cards to hand out or to count, oldest first. */
  open(): Promise<readonly string[]>;
  /** @returns null for an unknown id. */
  find(id: string): Promise<ResumeRun | null>;
  /** @returns the latest runs, latest first. */
  latest(limit: number): Promise<readonly ResumeRun[]>;
  /** From now on no waiting card is resumed; a call in flight ends normally. @returns null for an unknown id. */
  cancel(id: string): Promise<ResumeRun | null>;

  /** Claims the right to resume a card that waits in a run. @param isStopped as the gateway shows the SIM of `card`. */
  claim(card: AskedCard, isStopped: boolean, leaseMs: number): Promise<ResumeClaim>;
  /**
   * Call when the gateway shows the card running. In one transaction, marks the card as not stopped and its last stop as
   * `resumed` (also one that was requested before the run and not confirmed), and writes an audit entry.
   * @returns the entry; null when the card does not wait in the run any more, or has another SIM.
   */
  complete(card: NamedCard, runId: string, month: string): Promise<AuditEntry | null>;
  /**
   * Call when the gateway acknowledged the call and does not show the card running. @param pendingForMs as for a stop
   * @returns whether the card ended as failed: it was refused, or acknowledged without effect, too often; false also when another
   * caller has the claim.
   */
  acknowledge(cardId: number, runId: string, attempt: number, pendingForMs?: number | null): Promise<boolean>;
  /**
   * Call when the call certainly had no effect. Otherwise as `acknowledge`.
   * @param refused whether the gateway refused this card, which counts.
   */
  abandon(cardId: number, runId: string, attempt: number, error: string, refused: boolean): Promise<boolean>;
}
