// The facts about one card that decide whether to stop or to resume it: the card, its usage, and its orders. The record store
// loads these facts and writes the changes (src/store/sql/orders); the other files here are the rules. Plain data.
//
// Times are epoch milliseconds by the clock of the record store, with fractions: PostgreSQL keeps microseconds, and reading and
// writing must not change a stored time.
import type { AuditChange } from '../audit.ts';
import type { HoldReason, StopMode, StopState } from '../stops/stop.ts';
import type { StopCounts } from './stop-budget.ts';
import type { VendorWork } from './vendor-work.ts';

/** The SIM whose status was requested. */
export interface ShownCard {
  readonly iccid: string;
  readonly vendorId: string | null;
  /**
   * How long the vendor's reported work on the SIM may take, during which its status is meaningless. Absent or null: none in
   * progress.
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
  /** A reading is doubtful, and so is the usage. */
  readonly isSuspected: boolean;
  /** A later month has begun. */
  readonly closed: boolean;
  readonly readAt: number;
  /** The SIM of the reading; null: not stored by the version that read it. */
  readonly iccid: string | null;
  readonly lastReadingMb: number;
  readonly previousReadingMb: number | null;
}

/** The stop of a card in one month: a row of card_stops. */
export interface StopOrder extends VendorWork {
  /** YYYY-MM */
  readonly month: string;
  /** Version of the stored row; null: not stored yet. A row that changed since is not written. */
  readonly version: string | null;
  /** The SIM, usage, allowance and highest reading on which the decision was based. */
  readonly iccid: string;
  readonly usedMb: number;
  readonly allowanceMb: number | null;
  readonly readingMb: number | null;
  readonly state: StopState;
  /** null: cardpoll's own decision. released: an operator released a held stop. operator: ordered, whatever the card has used. */
  readonly authority: 'released' | 'operator' | null;
  readonly orderedBy: string | null;
  readonly reason: string | null;
  readonly heldBy: HoldReason | null;
  readonly requestedAt: number;
  /** When a stop with an authority becomes due in the queue (again). */
  readonly dueAt: number | null;
  /** Until then a call may be in flight, or may not be repeated. */
  readonly claimedUntil: number | null;
  /** The outcome of an earlier call is unknown. */
  readonly unresolved: boolean;
  /** The number of the claim, which fences its caller's reports. */
  readonly attempts: number;
  /** When its last call was counted in the budget; null: not counted. */
  readonly chargedAt: number | null;
  readonly acknowledgedAt: number | null;
  /** Calls that were acknowledged without effect. */
  readonly unconfirmed: number;
  readonly lastError: string | null;
  readonly completedAt: number | null;
  readonly resumedAt: number | null;
  /** A reading taken after the card's resume may stop it again in the month. */
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
  /** The start of a month created it, not an operator. */
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
  /** The current one, YYYY-MM. */
  readonly month: string;
  /** null: no such card. */
  readonly card: CardFacts | null;
  /** Usage of the current month, and of the newest one. */
  readonly usage: UsageFacts | null;
  readonly newestUsage: UsageFacts | null;
  /** When its usage was polled last, whether the reading changed or not. */
  readonly polledAt: number | null;
  /** All of its stops, the newest month first. */
  readonly stops: readonly StopOrder[];
  /** Resumes that wait, that may have a call in flight, or that resumed one of `stops`. */
  readonly resumes: readonly CardResume[];
}

/** The facts that decide about the stops of the whole fleet. */
export interface StopControlFacts {
  /** The mode in force. */
  readonly mode: StopMode;
  /** Counted stops, up to the current minute. */
  readonly counts: StopCounts;
  /** null: no limit. */
  readonly maxPerHour: number | null;
  readonly maxPerDay: number | null;
  /** Until then the watch compares readings; null: no watch. */
  readonly watchedUntil: number | null;
  readonly jump: JumpFacts;
}

/** A jump of the readings of the whole fleet, or of one carrier. */
export interface JumpFacts {
  /** null: no jump. */
  readonly since: number | null;
  /** null: the whole fleet. */
  readonly carrierId: number | null;
  readonly acceptedAt: number | null;
  /** When the growth of the fleet was last found to be normal after a jump. */
  readonly overAt: number | null;
  /** Stops that a jump held until then wait for an operator. */
  readonly doubtfulUntil: number | null;
}

/** The rows to write, all of them or none. Absent: no change of that kind. */
export interface Changes {
  readonly stops?: readonly StopOrder[];
  /** Stops to remove. */
  readonly dropped?: readonly StopOrder[];
  readonly resumes?: readonly CardResume[];
  /** A run counts one ended card less: it waits again. */
  readonly uncountedOfRun?: { readonly runId: string; readonly state: 'resumed' | 'already_running' };
  /** Sets whether the card is stopped, if it still has this SIM. */
  readonly card?: { readonly iccid: string; readonly stopped: boolean };
  readonly counts?: StopCounts;
  readonly audit?: AuditedChange;
}

/** Absent: the daemon is the actor. */
export interface AuditedChange extends AuditChange {
  readonly by?: { readonly name: string; readonly role: string };
}
