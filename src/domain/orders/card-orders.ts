// What is known of one card when it is decided whether to stop or to resume it: the card, its usage, and its orders. The record
// store loads these facts and writes the changes (src/store/sql/orders); the other files here are the rules. Plain data.
//
// Times are epoch milliseconds by the clock of the record store, with fractions: PostgreSQL keeps microseconds, and a stored
// time must survive that it is read and written again.
import type { AuditChange } from '../audit.ts';
import type { HoldReason, StopMode, StopState } from '../stops/stop.ts';
import type { StopCounts } from './stop-budget.ts';
import type { VendorWork } from './vendor-work.ts';

/** The SIM that the gateway was asked about. */
export interface ShownCard {
  readonly iccid: string;
  readonly vendorId: string | null;
  /**
   * The gateway shows that it works on the SIM, and how long that may take: whether it is stopped or runs says nothing then. Absent or
   * null: it does not.
   */
  readonly pendingForMs?: number | null;
}

export interface CardFacts extends Omit<ShownCard, 'pendingForMs'> {
  readonly cardId: number;
  readonly carrierId: number;
  /** null: unlimited. */
  readonly allowanceMb: number | null;
  readonly stopped: boolean;
  readonly iccidChangedAt: number | null;
  readonly allowanceChangedAt: number | null;
}

/** Usage of one month. */
export interface UsageFacts {
  /** YYYY-MM */
  readonly month: string;
  readonly usedMb: number;
  /** A reading is in doubt, so the usage is. */
  readonly isSuspected: boolean;
  /** A later month has begun. */
  readonly closed: boolean;
  readonly readAt: number;
  /** The SIM that was read; null: not stored by the version that read it. */
  readonly iccid: string | null;
  readonly lastReadingMb: number;
  readonly previousReadingMb: number | null;
}

/** The stop of a card in one month: a row of card_stops. */
export interface StopOrder extends VendorWork {
  /** YYYY-MM */
  readonly month: string;
  /** Of the stored row; null: there is none yet. A row that changed since is not written. */
  readonly version: string | null;
  /** The SIM, usage, allowance and highest reading that it was judged by. */
  readonly iccid: string;
  readonly usedMb: number;
  readonly allowanceMb: number | null;
  readonly readingMb: number | null;
  readonly state: StopState;
  /** null: cardpoll's own decision. released: an operator let a held stop go on. operator: whatever the card has used. */
  readonly authority: 'released' | 'operator' | null;
  readonly orderedBy: string | null;
  readonly reason: string | null;
  readonly heldBy: HoldReason | null;
  readonly requestedAt: number;
  /** When a stop with an authority is given to the queue (again). */
  readonly dueAt: number | null;
  /** A call may be under way, or may not be repeated, until then. */
  readonly claimedUntil: number | null;
  /** The outcome of an earlier call is not known. */
  readonly unresolved: boolean;
  /** The number of the claim: it fences what its caller reports. */
  readonly attempts: number;
  /** When its last call was counted in the budget; null: it is not counted. */
  readonly chargedAt: number | null;
  readonly acknowledgedAt: number | null;
  /** Calls that were acknowledged without effect. */
  readonly unconfirmed: number;
  readonly lastError: string | null;
  readonly completedAt: number | null;
  readonly resumedAt: number | null;
  /** The card may be stopped again in the month by a reading that is taken after its resume. */
  readonly stopAgain: boolean;
  /** The run that resumed the card. */
  readonly resumeRun: string | null;
}

/** The run that a resume belongs to. */
interface RunFacts {
  readonly createdAt: number;
  readonly createdBy: string;
  readonly createdRole: string;
  readonly reason: string;
  readonly stopAgain: boolean;
  /** A month that began made it, and no operator. */
  readonly isOfMonth: boolean;
}

/** A card of a run that resumes cards: a row of card_resumes. */
export interface CardResume extends VendorWork {
  readonly runId: string;
  readonly version: string;
  readonly run: RunFacts;
  readonly state: 'waiting' | 'resumed' | 'already_running' | 'failed' | 'cancelled';
  readonly dueAt: number;
  readonly claimedUntil: number | null;
  readonly unresolved: boolean;
  readonly attempts: number;
  /** Calls that were acknowledged without effect, and calls that were refused. */
  readonly unconfirmed: number;
  readonly refused: number;
  readonly lastError: string | null;
  readonly endedAt: number | null;
  /** The run has counted it. */
  readonly counted: boolean;
}

/** The facts of one card at one moment. */
export interface CardOrders {
  readonly now: number;
  /** The present one, YYYY-MM. */
  readonly month: string;
  /** null: there is no such card. */
  readonly card: CardFacts | null;
  /** Of the present month, and of the newest one. */
  readonly usage: UsageFacts | null;
  readonly newestUsage: UsageFacts | null;
  /** When its usage was polled last, whether the reading changed or not. */
  readonly polledAt: number | null;
  /** All of its stops, the newest month first. */
  readonly stops: readonly StopOrder[];
  /** Those that wait, that may have a call under way, or that resumed one of `stops`. */
  readonly resumes: readonly CardResume[];
}

/** What decides about the stops of the whole fleet. */
export interface StopControlFacts {
  /** In force. */
  readonly mode: StopMode;
  /** Stops that were counted, up to the present minute. */
  readonly counts: StopCounts;
  /** null: no limit. */
  readonly maxPerHour: number | null;
  readonly maxPerDay: number | null;
  /** Until then the watch compares readings; null: nothing does. */
  readonly watchedUntil: number | null;
  readonly jump: JumpFacts;
}

/** A jump of the readings of the whole fleet, or of one carrier. */
export interface JumpFacts {
  /** null: there is none. */
  readonly since: number | null;
  /** null: the whole fleet. */
  readonly carrierId: number | null;
  readonly acceptedAt: number | null;
  /** When the growth of the fleet was last found to be as before a jump. */
  readonly overAt: number | null;
  /** Stops that a jump held until then wait for an operator. */
  readonly doubtfulUntil: number | null;
}

/** What is to be written, all of it or nothing. Absent: nothing of that kind changes. */
export interface Changes {
  readonly stops?: readonly StopOrder[];
  /** Stops that are removed. */
  readonly dropped?: readonly StopOrder[];
  readonly resumes?: readonly CardResume[];
  /** A run counts its ended cards less this one, which waits again. */
  readonly uncountedOfRun?: { readonly runId: string; readonly state: 'resumed' | 'already_running' };
  /** Whether the card is stopped, if it still has this SIM. */
  readonly card?: { readonly iccid: string; readonly stopped: boolean };
  readonly counts?: StopCounts;
  readonly audit?: AuditedChange;
}

/** The actor is the daemon where it has none. */
export interface AuditedChange extends AuditChange {
  readonly by?: { readonly name: string; readonly role: string };
}
