// Port sections of record-store.ts: the stops of cards over their package, and the facts that decide about all stops of the
// fleet: the mode, the number of recent stops, and a jump of the fleet's readings.

import type { AuditEntry } from '../../../domain/audit.ts';
import type { NamedCard } from '../../../domain/cards/card.ts';
import type { Slice, SliceOf } from '../../../domain/page.ts';
import type { OverCard } from '../../../domain/results/fleet-level.ts';
import type { JumpEnd } from '../../../domain/results/usage-growth.ts';
import type { CarrierCards } from '../../../domain/schedule/card-counts.ts';
import type {
  HoldEnd,
  HoldReason,
  STOP_FILTERS,
  StopMode,
  StopRules,
  StopState,
} from '../../../domain/stops/stop.ts';

/** A stop that the gateway acknowledged but does not show. */
export interface UnconfirmedStop {
  /** Number of calls that were acknowledged without effect. */
  readonly calls: number;
  /** Milliseconds until the next call is allowed. */
  readonly retryInMs: number;
}

/** A card with a known status at the gateway. */
export interface AskedCard extends NamedCard {
  /** How long the vendor's reported work on the card may take; absent or null: none in progress. */
  readonly pendingForMs?: number | null;
}

/** The answer to a claim. Only `granted` and `unresolved` (an earlier call may have been made) allow the call. */
export type StopClaim =
  | {
      readonly state: 'granted' | 'unresolved';
      /** YYYY-MM; the stop of an operator may be of an earlier month. */
      readonly month: string;
      /** Fences the claim: the holder of an earlier one that resumes late changes nothing. */
      readonly attempt: number;
      /** Number of calls without effect, if the vendor has worked on the last call for the longest allowed time. */
      readonly overdueCalls?: number;
    }
  | { readonly state: 'pending' } // the vendor reports that it works on the card
  | { readonly state: 'claimed' } // another caller holds the claim
  | { readonly state: 'unwatched' } // many cards went over at once, and their readings must be compared first
  | { readonly state: 'resuming' } // the card waits in a run that resumes it
  | { readonly state: 'unconfirmed' } // acknowledged without effect; too early to repeat
  | { readonly state: 'other_iccid' } // the card's SIM is not the one that the gateway showed running
  | { readonly state: 'not_over' } // unknown card, within its current allowance, or its usage is doubtful
  | { readonly state: 'done' } // stopped once in this month with this SIM and allowance, resumed, or dismissed
  | { readonly state: 'observed'; readonly isNew: boolean } // stops are only observed
  /** Waits for the end of its cause, or for an operator. `isNew`: this claim caused it. */
  | { readonly state: 'held'; readonly heldBy: HoldReason; readonly isNew: boolean };

/** The current state of a stop; at most one for each card and month. */
export interface CardStop {
  /** Month of the usage, YYYY-MM. */
  readonly month: string;
  readonly state: StopState;
  readonly usedMb: number;
  /** null: unlimited; an operator stopped the card. */
  readonly allowanceMb: number | null;
  readonly requestedAtMs: number;
  /** When the gateway showed the card stopped; null while it does not. */
  readonly completedAtMs: number | null;
  readonly resumedAtMs: number | null;
  /** Number of claims so far; `unconfirmed` counts calls that were acknowledged without effect. */
  readonly attempts: number;
  readonly unconfirmed: number;
  readonly lastError: string | null;
  /** Why it waits; null unless held. */
  readonly heldBy: HoldReason | null;
  /** The event that ends the hold; null unless held. */
  readonly heldFor: HoldEnd | null;
  /** When the hold ends; null: unknown so far, an operator decides, or the stop is not held. */
  readonly heldUntilMs: number | null;
  /** The operator who released, dismissed or ordered it, and why; null: cardpoll's own decision. */
  readonly orderedBy: string | null;
  readonly reason: string | null;
  /** The card is resumed, and a reading taken after that may stop it again in the month. */
  readonly stopAgain: boolean;
  /** Since when, and until when at most, the vendor works on it; null: no work in progress. */
  readonly pendingSinceMs: number | null;
  readonly pendingUntilMs: number | null;
}

export interface ListedStop extends CardStop {
  readonly cardId: number;
  readonly iccid: string;
  /** null: the card was removed. */
  readonly carrierId: number | null;
}

/** Which stops to list; an attribute that is null matches all. */
export interface StopFilter {
  readonly state: (typeof STOP_FILTERS)[number] | null;
  /** Stops that were completed, or requested, at this time or later. */
  readonly sinceMs: number | null;
  /** Before this time; absent: no end. */
  readonly untilMs?: number | null;
  readonly carrierId: number | null;
}

/** An operator's decision about stops that wait. */
export interface StopDecision {
  readonly by: string;
  readonly reason: string;
}

/** Cards that run over their package with no open stop (migration 0014 has the definition). */
interface OverRunning {
  /** Up to OVER_RUNNING_COUNTED. */
  readonly count: number;
  /**
   * When the last walk over all cards ended. Cards stopped since then are excluded; cards that went over since then may be
   * missing.
   */
  readonly atMs: number;
  /** The first of them. */
  readonly cardIds: readonly number[];
}

/** Why a card that is over its package runs: no stop is open, or an operator spared it. And the state of its stop, if any. */
export interface RunsOver {
  readonly why: 'over_running' | 'spared';
  readonly stop: StopState | null;
}

export interface StopRecords {
  /** @returns the last `limit` stops of a card, latest first. */
  ofCard(cardId: number, limit: number): Promise<readonly CardStop[]>;
  /** @returns one page of the matching stops, latest first, and their number. */
  list(filter: StopFilter, slice: Slice): Promise<SliceOf<ListedStop>>;
  /** @param month the current one, YYYY-MM @returns null: the card is not over, does not run, or a stop is open. */
  runsOver(cardId: number, month: string): Promise<RunsOver | null>;
  /**
   * Claims the right to stop a card that the gateway shows running, if the current records say that it is over its package, or an
   * operator ordered the stop. A card is stopped at most once a month, unless it has got another SIM or a larger allowance, or a
   * run resumed it and allowed another stop. A held stop is judged again when its cause is over and the card was read after that.
   * The claim lasts for `leaseMs`. The rules are judged and the stop is counted in the same statement, so that all instances
   * together keep the budget.
   * @param card with the SIM that the gateway does not show stopped. @param month YYYY-MM
   */
  claim(card: AskedCard, month: string, leaseMs: number, rules: StopRules): Promise<StopClaim>;
  /**
   * Call when the gateway shows the card stopped. Marks the stop as done and the card as stopped, and writes an audit entry, in
   * one transaction. If this is the late effect of a stop whose card a run ended as running, the card waits in its run again.
   * @returns the entry; null when no stop of this SIM was in progress.
   */
  complete(card: NamedCard, month: string): Promise<AuditEntry | null>;
  /**
   * Call when the gateway acknowledged the claimed call but does not show the card stopped. Allows no further claim before a
   * pause of 30 s, which doubles each time up to an hour. @param pendingForMs how long the vendor reports to work on the call:
   * there is no further claim before that, and the order is due for each status check. @returns null when this caller no longer
   * holds the claim.
   */
  acknowledge(
    cardId: number,
    month: string,
    attempt: number,
    pendingForMs?: number | null,
  ): Promise<UnconfirmedStop | null>;
  /**
   * Call when the call had no effect (the gateway refused it, or it was not made): the next claim is granted at once, and the
   * budget does not count this one, unless the gateway then shows the card stopped anyway.
   * @param isCardFault the gateway refused the card. Otherwise a card found stopped was stopped by another system.
   */
  abandon(cardId: number, month: string, attempt: number, error: string, isCardFault: boolean): Promise<void>;
  /** @returns the number of cards that run despite an acknowledged stop, up to UNCONFIRMED_STOPS_COUNTED. */
  unconfirmed(): Promise<number>;

  /**
   * A step of the walk over all cards, after one card id and through another: it finds cards over their package which run and have
   * nothing open, and cards that cardpoll stopped and that are within it (stopped-within-records.ts).
   * @param month the present one, YYYY-MM @param fleetCards the number of all cards if the walk ends with this step, else null
   * @returns how many cards of a carrier have shown a counter below the former one, and count nothing until it is believed
   */
  sweep(
    afterCardId: number,
    throughCardId: number,
    month: string,
    fleetCards: number | null,
  ): Promise<readonly CarrierCards[]>;
  /**
   * @returns the cards that have run over their package for longer than OVER_RUNNING_GRACE_MS; null: no walk of this month has
   * ended yet.
   */
  overRunning(): Promise<OverRunning | null>;

  /**
   * Releases held stops: they are due at once and judged again, and the budget does not hold them.
   * @param cardIds null: all. One call decides on at most 10,000 stops: call again until it returns none.
   * @returns the cards whose stops were held.
   */
  release(cardIds: readonly number[] | null, decision: StopDecision): Promise<readonly number[]>;
  /**
   * Undoes releases by this operator for this reason, from a time on: stops that were not called are held again, by the same
   * cause. Works in steps, as `release`. @returns the cards.
   */
  holdAgain(released: StopDecision, sinceMs: number): Promise<readonly number[]>;
  /**
   * Dismisses stops that were not called, held, observed, released or ordered: the cards are not stopped in that month. Otherwise
   * as `release`.
   */
  dismiss(cardIds: readonly number[] | null, decision: StopDecision): Promise<readonly number[]>;
  /**
   * Orders the stop of one card, for any usage, also if it was stopped and resumed in this month. If the card is already stopped,
   * the order is done once its status is seen, and the stop is the operator's. Cancels an open resume of the card; while a call
   * of the resume may be in flight, the stop waits for its end. Two statements: call it in a transaction.
   */
  order(cardId: number, month: string, decision: StopDecision): Promise<'ordered' | 'unknown_card'>;
  /**
   * Removes stops that are not wanted any more (the allowance was raised, the usage corrected, the month is over, the card was
   * removed or stopped otherwise): held and observed ones, and those whose last call had no effect for a day. Works in steps:
   * call again with the last card id. @returns the last card id that was checked and the number of removed stops; `lastCardId`
   * null: it reached the end.
   */
  dropUnwanted(
    afterCardId: number,
    limit: number,
  ): Promise<{ readonly lastCardId: number | null; readonly dropped: number }>;
}

/** The mode that an operator set at run time. */
interface SetStopMode {
  readonly mode: StopMode;
  readonly sinceMs: number;
  readonly by: string;
  readonly reason: string;
}

/**
 * The readings of the whole fleet, or of a carrier, grow much faster than in the hour before, or have stepped to another level.
 */
export interface UsageJump {
  readonly sinceMs: number;
  /** null: the whole fleet. */
  readonly carrierId: number | null;
  /**
   * Median growth of the last minutes, as a multiple of the baseline; for a step, the readings after it as a multiple of those
   * before.
   */
  readonly factor: number;
  /** Median growth of the readings before the jump, and of the last minutes, MB per hour. */
  readonly baselineMbPerHour: number;
  readonly recentMbPerHour: number;
  /** When an operator accepted the readings, so that they hold no stop; null: they hold all stops. */
  readonly acceptedAtMs: number | null;
  /** Most cards that went over their package have stepped alike: normal growth does not end the jump. */
  readonly isStep: boolean;
}

/** The facts of a new jump. */
export type JumpBegun = Omit<UsageJump, 'sinceMs' | 'acceptedAtMs'>;

export interface StopControl {
  /** null: each instance uses the mode of its setting. */
  readonly setMode: SetStopMode | null;
  readonly jump: UsageJump | null;
  /** Stops called in the last hour and the last day. */
  readonly doneHour: number;
  readonly doneDay: number;
  /** Stops called in this minute and the previous one, without those that an operator released or ordered. */
  readonly doneTwoMinutes: number;
  /** Stops wait until readings are compared. */
  readonly waitsForWatch: boolean;
  /** The most stops called in a quarter of an hour at this time of yesterday, or up to an hour later. */
  readonly quarterOfYesterday: number;
  /** Stops that are held, that were only observed, and cards resumed in the last day; up to STOPS_COUNTED. */
  readonly held: number;
  /** Held stops that wait for an operator: their cause does not pass by itself. */
  readonly heldForOperator: number;
  /** When the first stop that the hourly budget holds is free again; null: none. */
  readonly heldUntilMs: number | null;
  readonly observed: number;
  /** Stops that operators released and that are not done yet; up to STOPS_COUNTED. */
  readonly released: number;
  readonly resumedDay: number;
}

export interface CardOfJump extends OverCard {
  readonly cardId: number;
}

export interface StopControlRecords {
  read(): Promise<StopControl>;
  /** Sets the mode for the whole fleet, in force with the next claim; mode enforce also accepts a jump of the readings. */
  setMode(mode: StopMode, by: string, reason: string): Promise<void>;

  /** @returns the current jump; null: none. */
  jump(): Promise<UsageJump | null>;
  /**
   * Begins a jump. A carrier's jump becomes one of the fleet if another carrier, or the fleet, jumps as well.
   * @returns false when a jump has already begun, unless it was accepted and this one starts from its level, or it becomes one of
   * the fleet.
   */
  beginJump(jump: JumpBegun): Promise<boolean>;
  /** @returns about 200 cards over their package whose stop was judged since the current jump began, the latest first. */
  overSinceJump(): Promise<readonly CardOfJump[]>;
  /** @returns the same for the last `windowMs`, without the cards of a carrier with a current jump. */
  overSince(windowMs: number): Promise<readonly OverCard[]>;
  /** @returns how many stops by cardpoll's own decision may be called before readings are compared again. */
  unwatchedLeft(): Promise<number>;
  /**
   * Records that readings were compared, and will be again within `forMs`; after that, stops do not wait for it. @param left
   * null: as many as before
   * @param before `unwatchedLeft` from before the look: if stops were called since, `left` is out of date and changes nothing
   */
  noteWatched(left: number | null, before: number, forMs: number): Promise<void>;
  /**
   * Makes the jump last until the level is back, or an operator accepts it. @returns false when it was one already, or there is
   * no jump.
   */
  noteStep(): Promise<boolean>;
  /**
   * Ends the jump. Its held stops are judged again if it ends as `back`; otherwise they wait for an operator. @returns false: no
   * jump.
   */
  endJump(ends: JumpEnd): Promise<boolean>;
}
